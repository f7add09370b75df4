// Four fp32 lanes in the compiler's generic vectors: any little-endian architecture; on x86-64 that is SSE2.
#pragma once

#include <cstdint>

#include "kernels/cpu/element.h"
#include "kernels/cpu/vector_pair.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace normtune::cpu::baseline {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pairs of bf16 are taken apart by shifts");

/// Four fp32 elements.
struct Single {
    static constexpr int lanes = 4;
    static constexpr int accumulators = 4;  // the most of a tile: registers that are left beside the data
    using F [[gnu::vector_size(16)]] = float;
    using I [[gnu::vector_size(16)]] = std::int32_t;
    using U [[gnu::vector_size(16)]] = std::uint32_t;
    struct M {
        int count;
    };

    NORMTUNE_INLINE F zero() { return F{}; }
    NORMTUNE_INLINE F set(float v) { return F{v, v, v, v}; }
    NORMTUNE_INLINE F add(F a, F b) { return a + b; }
    NORMTUNE_INLINE F sub(F a, F b) { return a - b; }
    NORMTUNE_INLINE F mul(F a, F b) { return a * b; }
    NORMTUNE_INLINE F fma(F a, F b, F c) { return a * b + c; }
    NORMTUNE_INLINE float sum(F a) { return (a[0] + a[2]) + (a[1] + a[3]); }
    NORMTUNE_INLINE F round(F v) { return v; }
    /// Every NaN as the one with an empty lower half, which rounding to bf16 keeps.
    NORMTUNE_INLINE F quiet_nan(F v) { return v == v ? v : set(__builtin_nanf("")); }

    NORMTUNE_INLINE M mask(std::int64_t n) { return {n >= lanes ? lanes : n <= 0 ? 0 : static_cast<int>(n)}; }
    NORMTUNE_INLINE F select(M m, F a) {
        const I within = I{0, 1, 2, 3} < I{m.count, m.count, m.count, m.count};
        return reinterpret_cast<F>(reinterpret_cast<I>(a) & within);
    }

    [[gnu::noinline]] static F load_part(const float* p, int count) {
        F v{};
        __builtin_memcpy(&v, p, static_cast<std::size_t>(count) * sizeof(float));
        return v;
    }
    [[gnu::noinline]] static void store_part(float* p, F v, int count) {
        __builtin_memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(float));
    }
    NORMTUNE_INLINE F load(const float* p) {
        F v;
        __builtin_memcpy(&v, p, sizeof v);
        return v;
    }
    NORMTUNE_INLINE F load(const float* p, M m) { return m.count == lanes ? load(p) : load_part(p, m.count); }
    NORMTUNE_INLINE void store(float* p, F v) { __builtin_memcpy(p, &v, sizeof v); }
    NORMTUNE_INLINE void store(float* p, F v, M m) {
        if (m.count == lanes) {
            store(p, v);
        } else {
            store_part(p, v, m.count);
        }
    }
    NORMTUNE_INLINE void stream(float* p, F v) {
#if defined(__SSE2__)
        _mm_stream_ps(p, v);
#else
        store(p, v);  // never chosen: `store_hint: streaming` is pruned where there are no non-temporal stores
#endif
    }
    NORMTUNE_INLINE F load_row(const float* p) {
        return load(p);
    }
    NORMTUNE_INLINE void store_row(float* p, F v) {
        store(p, v);
    }
    NORMTUNE_INLINE F load_wide(const float* p, M m) {
        return load(p, m);
    }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        store(p, v, m);
    }
};

/// What the 16-bit types share: eight elements as four words.
struct Halves : VectorPair<Single> {
    using U = Single::U;
    using M = Single::M;

    NORMTUNE_INLINE M mask(std::int64_t n) { return {n >= lanes ? lanes : n <= 0 ? 0 : static_cast<int>(n)}; }

    [[gnu::noinline]] static U load_part(const void* p, int count) {
        U words{};
        __builtin_memcpy(&words, p, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
        return words;
    }
    [[gnu::noinline]] static void store_part(void* p, U words, int count) {
        __builtin_memcpy(p, &words, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
    }
    NORMTUNE_INLINE U load_bits(const void* p) {
        U words;
        __builtin_memcpy(&words, p, sizeof words);
        return words;
    }
    NORMTUNE_INLINE U load_bits(const void* p, M m) { return m.count == lanes ? load_bits(p) : load_part(p, m.count); }
    NORMTUNE_INLINE void store_bits(void* p, U words) { __builtin_memcpy(p, &words, sizeof words); }
    NORMTUNE_INLINE void store_bits(void* p, U words, M m) {
        if (m.count == lanes) {
            store_bits(p, words);
        } else {
            store_part(p, words, m.count);
        }
    }
    NORMTUNE_INLINE void stream_bits(void* p, U words) {
#if defined(__SSE2__)
        _mm_stream_si128(static_cast<__m128i*>(p), reinterpret_cast<__m128i>(words));
#else
        store_bits(p, words);
#endif
    }
};

/// Eight bf16 elements: a has the even ones, b the odd ones (see the AVX-512 one).
struct PairBf16 : Halves {
    NORMTUNE_INLINE F select(M m, F v) { return {Single::select({(m.count + 1) / 2}, v.a), Single::select({m.count / 2}, v.b)}; }
    /// Bits of the nearest bf16 in the upper half of each lane; the lower half is not cleared. A NaN whose lower half
    /// is empty stays one: bf16 has no other, arithmetic passes them on, and what comes in as fp32 is made so
    /// (quiet_nan).
    NORMTUNE_INLINE U nearest(Single::F v) {
        const U bits = reinterpret_cast<U>(v);
        return bits + (0x7fffU + ((bits >> 16U) & 1U));
    }
    NORMTUNE_INLINE F round(F v) {
        return {reinterpret_cast<Single::F>(nearest(v.a) & 0xffff0000U), reinterpret_cast<Single::F>(nearest(v.b) & 0xffff0000U)};
    }
    NORMTUNE_INLINE F widen(U words) {
        return {reinterpret_cast<Single::F>(words << 16U), reinterpret_cast<Single::F>(words & 0xffff0000U)};
    }
    NORMTUNE_INLINE U narrow(F v) { return (nearest(v.a) >> 16U) | (nearest(v.b) & 0xffff0000U); }

    NORMTUNE_INLINE F load(const bf16* p) { return widen(load_bits(p)); }
    NORMTUNE_INLINE F load(const bf16* p, M m) { return widen(load_bits(p, m)); }
    NORMTUNE_INLINE void store(bf16* p, F v) { store_bits(p, narrow(v)); }
    NORMTUNE_INLINE void store(bf16* p, F v, M m) { store_bits(p, narrow(v), m); }
    NORMTUNE_INLINE void stream(bf16* p, F v) { stream_bits(p, narrow(v)); }

    NORMTUNE_INLINE F load_wide(const float* p, M m) {
        const Single::F first = Single::quiet_nan(Single::load(p, Single::mask(m.count)));
        const Single::F second = Single::quiet_nan(Single::load(p + 4, Single::mask(m.count - 4)));
        return {Single::F{first[0], first[2], second[0], second[2]}, Single::F{first[1], first[3], second[1], second[3]}};
    }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        Single::store(p, Single::F{v.a[0], v.b[0], v.a[1], v.b[1]}, Single::mask(m.count));
        Single::store(p + 4, Single::F{v.a[2], v.b[2], v.a[3], v.b[3]}, Single::mask(m.count - 4));
    }
};

/// Eight fp16 elements, converted in software: a has the first four, b the others.
struct PairFp16 : Halves {
    NORMTUNE_INLINE F select(M m, F v) {
        return {Single::select(Single::mask(m.count), v.a), Single::select(Single::mask(m.count - 4), v.b)};
    }
    // Out of line: these are long, and every pass has several.
    [[gnu::noinline]] static F widen(U words) {
        std::uint16_t halves[lanes];
        __builtin_memcpy(halves, &words, sizeof halves);
        F v;
        for (int i = 0; i < 4; ++i) {
            v.a[i] = to_float(fp16{halves[i]});
            v.b[i] = to_float(fp16{halves[i + 4]});
        }
        return v;
    }
    [[gnu::noinline]] static U narrow(F v) {
        std::uint16_t halves[lanes];
        for (int i = 0; i < 4; ++i) {
            halves[i] = to_fp16(v.a[i]).bits;
            halves[i + 4] = to_fp16(v.b[i]).bits;
        }
        U words;
        __builtin_memcpy(&words, halves, sizeof words);
        return words;
    }
    NORMTUNE_INLINE F round(F v) { return widen(narrow(v)); }

    NORMTUNE_INLINE F load(const fp16* p) { return widen(load_bits(p)); }
    NORMTUNE_INLINE F load(const fp16* p, M m) { return widen(load_bits(p, m)); }
    NORMTUNE_INLINE void store(fp16* p, F v) { store_bits(p, narrow(v)); }
    NORMTUNE_INLINE void store(fp16* p, F v, M m) { store_bits(p, narrow(v), m); }
    NORMTUNE_INLINE void stream(fp16* p, F v) { stream_bits(p, narrow(v)); }
    NORMTUNE_INLINE F load_wide(const float* p, M m) {
        return {Single::load(p, Single::mask(m.count)), Single::load(p + 4, Single::mask(m.count - 4))};
    }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        Single::store(p, v.a, Single::mask(m.count));
        Single::store(p + 4, v.b, Single::mask(m.count - 4));
    }
};

struct InstructionSet {
    static constexpr const char* name = "baseline";
    static Single of(float);
    static PairBf16 of(bf16);
    static PairFp16 of(fp16);
    static void fence() {
#if defined(__SSE2__)
        _mm_sfence();
#endif
    }
};

}  // namespace normtune::cpu::baseline
