// Four fp32 lanes in the compiler's generic vectors: any architecture; on x86-64 that is SSE2.
#pragma once

#include <cstdint>

#include "kernels/cpu/element.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define NORMTUNE_INLINE [[gnu::always_inline]] static inline

namespace normtune::cpu::baseline {

struct Vector {
    static constexpr int lanes = 4;
    static constexpr int accumulators = 4;
    using F [[gnu::vector_size(16)]] = float;
    using I [[gnu::vector_size(16)]] = std::int32_t;
    using U [[gnu::vector_size(16)]] = std::uint32_t;
    using H [[gnu::vector_size(8)]] = std::uint16_t;
    struct M {
        int count;
    };

    NORMTUNE_INLINE F zero() { return F{}; }
    NORMTUNE_INLINE F set(float v) { return F{v, v, v, v}; }
    NORMTUNE_INLINE F add(F a, F b) { return a + b; }
    NORMTUNE_INLINE F sub(F a, F b) { return a - b; }
    NORMTUNE_INLINE F mul(F a, F b) { return a * b; }
    NORMTUNE_INLINE F fma(F a, F b, F c) { return a * b + c; }
    NORMTUNE_INLINE F select(M m, F a) {
        const I within = I{0, 1, 2, 3} < I{m.count, m.count, m.count, m.count};
        return reinterpret_cast<F>(reinterpret_cast<I>(a) & within);
    }
    NORMTUNE_INLINE float sum(F a) { return (a[0] + a[2]) + (a[1] + a[3]); }
    /// The first n lanes.
    NORMTUNE_INLINE M mask(std::int64_t n) { return {n >= lanes ? lanes : n <= 0 ? 0 : static_cast<int>(n)}; }

    NORMTUNE_INLINE float from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
    NORMTUNE_INLINE std::uint32_t to_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

    NORMTUNE_INLINE float widen_fp16(std::uint16_t half) {
        const std::uint32_t sign = (half & 0x8000U) << 16;
        const std::uint32_t magnitude = half & 0x7fffU;
        if (magnitude >= 0x7c00U) {  // inf, NaN
            return from_bits(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
        }
        // Exponents differ by 112; the multiplication also makes subnormals right, exactly.
        return from_bits(sign | to_bits(from_bits(magnitude << 13) * 0x1p112F));
    }
    NORMTUNE_INLINE std::uint16_t narrow_fp16(float value) {
        const std::uint32_t bits = to_bits(value);
        const std::uint32_t sign = (bits >> 16) & 0x8000U;
        const std::uint32_t magnitude = bits & 0x7fffffffU;
        std::uint32_t half = 0;
        if (magnitude > 0x7f800000U) {
            half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
        } else if (magnitude >= 0x477ff000U) {  // 65520 and above round to infinity
            half = 0x7c00U;
        } else if (magnitude < 0x38800000U) {  // below 2⁻¹⁴: adding 1/2 leaves units of 2⁻²⁴, rounded to even
            half = to_bits(from_bits(magnitude) + 0.5F) - to_bits(0.5F);
        } else {
            half = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
        }
        return static_cast<std::uint16_t>(sign | half);
    }

    NORMTUNE_INLINE F widen(H h, bf16) { return reinterpret_cast<F>(__builtin_convertvector(h, U) << 16U); }
    // Out of line: conversions in software are long, and every pass has several.
    [[gnu::noinline]] static F widen_all(H h) {
        return F{widen_fp16(h[0]), widen_fp16(h[1]), widen_fp16(h[2]), widen_fp16(h[3])};
    }
    [[gnu::noinline]] static H narrow_all(F v) {
        return H{narrow_fp16(v[0]), narrow_fp16(v[1]), narrow_fp16(v[2]), narrow_fp16(v[3])};
    }
    NORMTUNE_INLINE F widen(H h, fp16) { return widen_all(h); }
    /// Bits of the nearest bf16 in the upper half of each lane; the lower half is not cleared.
    NORMTUNE_INLINE U nearest_bf16(F v) {
        const U bits = reinterpret_cast<U>(v);
        const U rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
        const U nan = reinterpret_cast<U>(v != v);
        return (rounded & ~nan) | ((bits | 0x400000U) & nan);
    }
    NORMTUNE_INLINE H narrow(F v, bf16) { return __builtin_convertvector(nearest_bf16(v) >> 16U, H); }
    NORMTUNE_INLINE H narrow(F v, fp16) { return narrow_all(v); }

    NORMTUNE_INLINE F round(F v, float) { return v; }
    NORMTUNE_INLINE F round(F v, bf16) { return reinterpret_cast<F>(nearest_bf16(v) & 0xffff0000U); }
    NORMTUNE_INLINE F round(F v, fp16) { return widen(narrow(v, fp16{}), fp16{}); }

    template <class Lanes, class T>
    [[gnu::noinline]] static Lanes load_part(const T* p, int count) {
        Lanes v{};
        __builtin_memcpy(&v, p, static_cast<std::size_t>(count) * sizeof(T));
        return v;
    }
    template <class Lanes, class T>
    NORMTUNE_INLINE Lanes load_all(const T* p) {
        Lanes v;
        __builtin_memcpy(&v, p, sizeof v);
        return v;
    }
    template <class Lanes, class T>
    [[gnu::noinline]] static void store_part(T* p, Lanes v, int count) {
        __builtin_memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(T));
    }

    NORMTUNE_INLINE F load(const float* p) { return load_all<F>(p); }
    NORMTUNE_INLINE F load(const float* p, M m) { return m.count == lanes ? load(p) : load_part<F>(p, m.count); }
    NORMTUNE_INLINE void store(float* p, F v) { __builtin_memcpy(p, &v, sizeof v); }
    NORMTUNE_INLINE void store(float* p, F v, M m) {
        if (m.count == lanes) {
            store(p, v);
        } else {
            store_part(p, v, m.count);
        }
    }

    template <class T>
    NORMTUNE_INLINE F load(const T* p) {
        return widen(load_all<H>(p), T{});
    }
    template <class T>
    NORMTUNE_INLINE F load(const T* p, M m) {
        return widen(m.count == lanes ? load_all<H>(p) : load_part<H>(p, m.count), T{});
    }
    template <class T>
    NORMTUNE_INLINE void store(T* p, F v) {
        const H h = narrow(v, T{});
        __builtin_memcpy(p, &h, sizeof h);
    }
    template <class T>
    NORMTUNE_INLINE void store(T* p, F v, M m) {
        const H h = narrow(v, T{});
        if (m.count == lanes) {
            __builtin_memcpy(p, &h, sizeof h);
        } else {
            store_part(p, h, m.count);
        }
    }

#if defined(__SSE2__)
    NORMTUNE_INLINE void stream(float* p, F v) {
        _mm_stream_ps(p, v);
    }
    template <class T>
    NORMTUNE_INLINE void stream(T* p, F v) {
        const H h = narrow(v, T{});
        long long both;
        __builtin_memcpy(&both, &h, sizeof both);
        _mm_stream_si64(reinterpret_cast<long long*>(p), both);
    }
    NORMTUNE_INLINE void fence() {
        _mm_sfence();
    }
#else
    // Never chosen: `store_hint: streaming` is pruned where there are no non-temporal stores.
    template <class T>
    NORMTUNE_INLINE void stream(T* p, F v) {
        store(p, v);
    }
    NORMTUNE_INLINE void fence() {}
#endif
};

}  // namespace normtune::cpu::baseline
