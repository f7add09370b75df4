// AVX2, FMA and F16C. Included only by sources that are compiled for them.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/element.h"
#include "kernels/cpu/vector_pair.h"

namespace normtune::cpu::avx2 {

/// Eight fp32 elements.
struct Single {
    static constexpr int lanes = 8;
    static constexpr int accumulators = 4;  // the most of a tile: registers that are left beside the data
    using F = __m256;
    using M = __m256i;

    NORMTUNE_INLINE F zero() { return _mm256_setzero_ps(); }
    NORMTUNE_INLINE F set(float v) { return _mm256_set1_ps(v); }
    NORMTUNE_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
    NORMTUNE_INLINE F sub(F a, F b) { return _mm256_sub_ps(a, b); }
    NORMTUNE_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
    NORMTUNE_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    NORMTUNE_INLINE float sum(F a) {
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
    NORMTUNE_INLINE F round(F v) { return v; }
    /// Every NaN as the one with an empty lower half, which rounding to bf16 keeps.
    NORMTUNE_INLINE F quiet_nan(F v) { return _mm256_blendv_ps(v, _mm256_set1_ps(__builtin_nanf("")), _mm256_cmp_ps(v, v, _CMP_UNORD_Q)); }

    NORMTUNE_INLINE M mask(std::int64_t n) {
        const int count = n >= lanes ? lanes : static_cast<int>(n);
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    NORMTUNE_INLINE F select(M m, F a) { return _mm256_and_ps(a, _mm256_castsi256_ps(m)); }

    NORMTUNE_INLINE F load(const float* p) { return _mm256_loadu_ps(p); }
    NORMTUNE_INLINE F load(const float* p, M m) { return _mm256_maskload_ps(p, m); }
    NORMTUNE_INLINE void store(float* p, F v) { _mm256_storeu_ps(p, v); }
    NORMTUNE_INLINE void store(float* p, F v, M m) { _mm256_maskstore_ps(p, m, v); }
    NORMTUNE_INLINE void stream(float* p, F v) { _mm256_stream_ps(p, v); }
    NORMTUNE_INLINE F load_row(const float* p) { return load(p); }
    NORMTUNE_INLINE void store_row(float* p, F v) { store(p, v); }
    NORMTUNE_INLINE F load_wide(const float* p, M m) { return load(p, m); }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) { store(p, v, m); }
};

/// What the 16-bit types share. AVX2 masks lanes of 32 bits only: a part of a register goes through a buffer, out of
/// line.
struct Halves : VectorPair<Single> {
    struct M {
        int count;
    };
    NORMTUNE_INLINE M mask(std::int64_t n) { return {n >= lanes ? lanes : n <= 0 ? 0 : static_cast<int>(n)}; }

    [[gnu::noinline]] static __m256i load_part(const void* p, int count) {
        alignas(32) std::uint16_t buffer[lanes] = {};
        __builtin_memcpy(buffer, p, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(buffer));
    }
    [[gnu::noinline]] static void store_part(void* p, __m256i halves, int count) {
        alignas(32) std::uint16_t buffer[lanes];
        _mm256_store_si256(reinterpret_cast<__m256i*>(buffer), halves);
        __builtin_memcpy(p, buffer, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
    }
    NORMTUNE_INLINE __m256i load_bits(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
    NORMTUNE_INLINE __m256i load_bits(const void* p, M m) { return m.count == lanes ? load_bits(p) : load_part(p, m.count); }
    NORMTUNE_INLINE void store_bits(void* p, __m256i halves) { _mm256_storeu_si256(static_cast<__m256i*>(p), halves); }
    NORMTUNE_INLINE void store_bits(void* p, __m256i halves, M m) {
        if (m.count == lanes) {
            store_bits(p, halves);
        } else {
            store_part(p, halves, m.count);
        }
    }
};

/// Sixteen bf16 elements: a has the even ones, b the odd ones (see the AVX-512 one).
struct PairBf16 : Halves {
    NORMTUNE_INLINE F select(M m, F v) {
        return {Single::select(Single::mask((m.count + 1) / 2), v.a), Single::select(Single::mask(m.count / 2), v.b)};
    }
    NORMTUNE_INLINE __m256i upper() { return _mm256_set1_epi32(static_cast<int>(0xffff0000U)); }
    /// Bits of the nearest bf16 in the upper half of each lane; the lower half is not cleared. A NaN whose lower half
    /// is empty stays one: bf16 has no other, arithmetic passes them on, and what comes in as fp32 is made so
    /// (quiet_nan).
    NORMTUNE_INLINE __m256i nearest(__m256 v) {
        const __m256i bits = _mm256_castps_si256(v);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    }
    NORMTUNE_INLINE F round(F v) {
        return {_mm256_castsi256_ps(_mm256_and_si256(nearest(v.a), upper())), _mm256_castsi256_ps(_mm256_and_si256(nearest(v.b), upper()))};
    }
    NORMTUNE_INLINE F widen(__m256i both) {
        return {_mm256_castsi256_ps(_mm256_slli_epi32(both, 16)), _mm256_castsi256_ps(_mm256_and_si256(both, upper()))};
    }
    NORMTUNE_INLINE __m256i narrow(F v) { return _mm256_blend_epi16(_mm256_srli_epi32(nearest(v.a), 16), nearest(v.b), 0xaa); }

    NORMTUNE_INLINE F load(const bf16* p) { return widen(load_bits(p)); }
    NORMTUNE_INLINE F load(const bf16* p, M m) { return widen(load_bits(p, m)); }
    NORMTUNE_INLINE void store(bf16* p, F v) { store_bits(p, narrow(v)); }
    NORMTUNE_INLINE void store(bf16* p, F v, M m) { store_bits(p, narrow(v), m); }
    NORMTUNE_INLINE void stream(bf16* p, F v) { _mm256_stream_si256(reinterpret_cast<__m256i*>(p), narrow(v)); }

    NORMTUNE_INLINE F load_wide(const float* p, M m) {
        const __m256 first = Single::quiet_nan(Single::load(p, Single::mask(m.count)));
        const __m256 second = Single::quiet_nan(Single::load(p + 8, Single::mask(m.count - 8)));
        const __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(first, second, 0x88));
        const __m256d odd = _mm256_castps_pd(_mm256_shuffle_ps(first, second, 0xdd));
        return {_mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8)), _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8))};
    }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        const __m256 low = _mm256_unpacklo_ps(v.a, v.b);
        const __m256 high = _mm256_unpackhi_ps(v.a, v.b);
        Single::store(p, _mm256_permute2f128_ps(low, high, 0x20), Single::mask(m.count));
        Single::store(p + 8, _mm256_permute2f128_ps(low, high, 0x31), Single::mask(m.count - 8));
    }
};

/// Sixteen fp16 elements: a has the first eight, b the others.
struct PairFp16 : Halves {
    NORMTUNE_INLINE F select(M m, F v) {
        return {Single::select(Single::mask(m.count), v.a), Single::select(Single::mask(m.count - 8), v.b)};
    }
    NORMTUNE_INLINE F widen(__m256i both) {
        return {_mm256_cvtph_ps(_mm256_castsi256_si128(both)), _mm256_cvtph_ps(_mm256_extracti128_si256(both, 1))};
    }
    NORMTUNE_INLINE __m256i narrow(F v) {
        constexpr int mode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        return _mm256_set_m128i(_mm256_cvtps_ph(v.b, mode), _mm256_cvtps_ph(v.a, mode));
    }
    NORMTUNE_INLINE F round(F v) { return widen(narrow(v)); }

    NORMTUNE_INLINE F load(const fp16* p) { return widen(load_bits(p)); }
    NORMTUNE_INLINE F load(const fp16* p, M m) { return widen(load_bits(p, m)); }
    NORMTUNE_INLINE void store(fp16* p, F v) { store_bits(p, narrow(v)); }
    NORMTUNE_INLINE void store(fp16* p, F v, M m) { store_bits(p, narrow(v), m); }
    NORMTUNE_INLINE void stream(fp16* p, F v) { _mm256_stream_si256(reinterpret_cast<__m256i*>(p), narrow(v)); }
    NORMTUNE_INLINE F load_wide(const float* p, M m) {
        return {Single::load(p, Single::mask(m.count)), Single::load(p + 8, Single::mask(m.count - 8))};
    }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        Single::store(p, v.a, Single::mask(m.count));
        Single::store(p + 8, v.b, Single::mask(m.count - 8));
    }
};

struct InstructionSet {
    static constexpr const char* name = "avx2";
    static Single of(float);
    static PairBf16 of(bf16);
    static PairFp16 of(fp16);
    static void fence() { _mm_sfence(); }
};

}  // namespace normtune::cpu::avx2
