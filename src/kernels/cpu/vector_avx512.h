// Sixteen fp32 lanes. Included only by sources that are compiled for AVX-512 (F, BW, VL, DQ).
#pragma once

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for uninitialised ones (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/element.h"

#define NORMTUNE_INLINE [[gnu::always_inline]] static inline

namespace normtune::cpu::avx512 {

struct Vector {
    static constexpr int lanes = 16;
    static constexpr int accumulators = 8;  // the most of a tile: what the register file holds besides the data
    using F = __m512;
    using M = __mmask16;
    using Half = __m256i;  // sixteen 16-bit elements

    NORMTUNE_INLINE F zero() { return _mm512_setzero_ps(); }
    NORMTUNE_INLINE F set(float v) { return _mm512_set1_ps(v); }
    NORMTUNE_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
    NORMTUNE_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
    NORMTUNE_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
    NORMTUNE_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
    NORMTUNE_INLINE F select(M m, F a) { return _mm512_maskz_mov_ps(m, a); }
    NORMTUNE_INLINE float sum(F a) { return _mm512_reduce_add_ps(a); }
    /// The first n lanes.
    NORMTUNE_INLINE M mask(std::int64_t n) {
        return n >= lanes ? static_cast<M>(0xffff) : n <= 0 ? M{0} : static_cast<M>((1U << n) - 1U);
    }

    NORMTUNE_INLINE F widen(Half h, bf16) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
    }
    NORMTUNE_INLINE F widen(Half h, fp16) { return _mm512_cvtph_ps(h); }
    /// Bits of the nearest bf16 in the upper half of each lane; the lower half is not cleared.
    NORMTUNE_INLINE __m512i nearest_bf16(F v) {
        const __m512i bits = _mm512_castps_si512(v);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
        const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        return _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
    }
    NORMTUNE_INLINE Half narrow(F v, bf16) { return _mm512_cvtepi32_epi16(_mm512_srli_epi32(nearest_bf16(v), 16)); }
    NORMTUNE_INLINE Half narrow(F v, fp16) { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

    NORMTUNE_INLINE F round(F v, float) { return v; }
    NORMTUNE_INLINE F round(F v, bf16) {
        return _mm512_castsi512_ps(_mm512_and_si512(nearest_bf16(v), _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
    }
    NORMTUNE_INLINE F round(F v, fp16) { return _mm512_cvtph_ps(narrow(v, fp16{})); }

    NORMTUNE_INLINE F load(const float* p) { return _mm512_loadu_ps(p); }
    NORMTUNE_INLINE F load(const float* p, M m) { return _mm512_maskz_loadu_ps(m, p); }
    NORMTUNE_INLINE void store(float* p, F v) { _mm512_storeu_ps(p, v); }
    NORMTUNE_INLINE void store(float* p, F v, M m) { _mm512_mask_storeu_ps(p, m, v); }
    NORMTUNE_INLINE void stream(float* p, F v) { _mm512_stream_ps(p, v); }

    template <class T>
    NORMTUNE_INLINE F load(const T* p) {
        return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), T{});
    }
    template <class T>
    NORMTUNE_INLINE F load(const T* p, M m) {
        return widen(_mm256_maskz_loadu_epi16(m, p), T{});
    }
    template <class T>
    NORMTUNE_INLINE void store(T* p, F v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow(v, T{}));
    }
    template <class T>
    NORMTUNE_INLINE void store(T* p, F v, M m) {
        _mm256_mask_storeu_epi16(p, m, narrow(v, T{}));
    }
    template <class T>
    NORMTUNE_INLINE void stream(T* p, F v) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(p), narrow(v, T{}));
    }

    NORMTUNE_INLINE void fence() { _mm_sfence(); }
};

}  // namespace normtune::cpu::avx512
