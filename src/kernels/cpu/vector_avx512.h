// AVX-512 (F, BW, VL, DQ). Included only by sources that are compiled for it.
#pragma once

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for uninitialised ones (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include "kernels/cpu/element.h"
#include "kernels/cpu/vector_pair.h"

namespace normtune::cpu::avx512 {

/// The first n of `width` bits.
NORMTUNE_INLINE std::uint32_t first_bits(std::int64_t n, int width) {
    return n >= width ? static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1)
           : n <= 0   ? 0U
                      : static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
}

/// Sixteen fp32 elements.
struct Single {
    static constexpr int lanes = 16;
    static constexpr int accumulators = 8;  // the most of a tile: registers that are left beside the data
    using F = __m512;
    using M = __mmask16;

    NORMTUNE_INLINE F zero() { return _mm512_setzero_ps(); }
    NORMTUNE_INLINE F set(float v) { return _mm512_set1_ps(v); }
    NORMTUNE_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
    NORMTUNE_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
    NORMTUNE_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
    NORMTUNE_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
    NORMTUNE_INLINE float sum(F a) { return _mm512_reduce_add_ps(a); }
    NORMTUNE_INLINE F round(F v) { return v; }

    /// Every NaN as the one with an empty lower half, which rounding to bf16 keeps.
    NORMTUNE_INLINE F quiet_nan(F v) {
        return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), _mm512_set1_ps(__builtin_nanf("")));
    }

    NORMTUNE_INLINE M mask(std::int64_t n) { return static_cast<M>(first_bits(n, lanes)); }
    NORMTUNE_INLINE F select(M m, F a) { return _mm512_maskz_mov_ps(m, a); }

    NORMTUNE_INLINE F load(const float* p) { return _mm512_loadu_ps(p); }
    NORMTUNE_INLINE F load(const float* p, M m) { return _mm512_maskz_loadu_ps(m, p); }
    NORMTUNE_INLINE void store(float* p, F v) { _mm512_storeu_ps(p, v); }
    NORMTUNE_INLINE void store(float* p, F v, M m) { _mm512_mask_storeu_ps(p, m, v); }
    NORMTUNE_INLINE void stream(float* p, F v) { _mm512_stream_ps(p, v); }
    NORMTUNE_INLINE F load_row(const float* p) { return load(p); }
    NORMTUNE_INLINE void store_row(float* p, F v) { store(p, v); }
    NORMTUNE_INLINE F load_wide(const float* p, M m) { return load(p, m); }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) { store(p, v, m); }
};

/// A register's thirty-two 16-bit elements, masked.
struct HalfMask {
    __mmask32 all;
    __mmask16 a;
    __mmask16 b;
};

/// Thirty-two bf16 elements: a has the even ones, b the odd ones. Taking them apart is one operation each, and so is
/// putting them together, where widening in order takes two and narrowing three.
struct PairBf16 : VectorPair<Single> {
    using M = HalfMask;

    NORMTUNE_INLINE M mask(std::int64_t n) {
        return {first_bits(n, 32), static_cast<__mmask16>(first_bits((n + 1) / 2, 16)), static_cast<__mmask16>(first_bits(n / 2, 16))};
    }
    NORMTUNE_INLINE F select(M m, F v) { return {Single::select(m.a, v.a), Single::select(m.b, v.b)}; }

    NORMTUNE_INLINE __m512i upper() { return _mm512_set1_epi32(static_cast<int>(0xffff0000U)); }
    /// Bits of the nearest bf16 in the upper half of each lane; the lower half is not cleared. A NaN whose lower half
    /// is empty stays one: bf16 has no other, arithmetic passes them on, and what comes in as fp32 is made so
    /// (quiet_nan).
    NORMTUNE_INLINE __m512i nearest(__m512 v) {
        const __m512i bits = _mm512_castps_si512(v);
        const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
        const __m512i up = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
        return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
    }
    NORMTUNE_INLINE F round(F v) {
        return {_mm512_castsi512_ps(_mm512_and_si512(nearest(v.a), upper())), _mm512_castsi512_ps(_mm512_and_si512(nearest(v.b), upper()))};
    }
    NORMTUNE_INLINE F widen(__m512i both) {
        return {_mm512_castsi512_ps(_mm512_slli_epi32(both, 16)), _mm512_castsi512_ps(_mm512_and_si512(both, upper()))};
    }
    NORMTUNE_INLINE __m512i narrow(F v) {
        constexpr int first_or_both_others = 0xf8;
        return _mm512_ternarylogic_epi32(_mm512_srli_epi32(nearest(v.a), 16), nearest(v.b), upper(), first_or_both_others);
    }

    NORMTUNE_INLINE F load(const bf16* p) { return widen(_mm512_loadu_si512(p)); }
    NORMTUNE_INLINE F load(const bf16* p, M m) { return widen(_mm512_maskz_loadu_epi16(m.all, p)); }
    NORMTUNE_INLINE void store(bf16* p, F v) { _mm512_storeu_si512(p, narrow(v)); }
    NORMTUNE_INLINE void store(bf16* p, F v, M m) { _mm512_mask_storeu_epi16(p, m.all, narrow(v)); }
    NORMTUNE_INLINE void stream(bf16* p, F v) { _mm512_stream_si512(reinterpret_cast<__m512i*>(p), narrow(v)); }

    NORMTUNE_INLINE F load_wide(const float* p, M m) {
        const __m512 first = Single::quiet_nan(_mm512_maskz_loadu_ps(static_cast<__mmask16>(m.all), p));
        const __m512 second = Single::quiet_nan(_mm512_maskz_loadu_ps(static_cast<__mmask16>(m.all >> 16), p + 16));
        const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
        return {_mm512_permutex2var_ps(first, even, second), _mm512_permutex2var_ps(first, odd, second)};
    }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
        _mm512_mask_storeu_ps(p, static_cast<__mmask16>(m.all), _mm512_permutex2var_ps(v.a, low, v.b));
        _mm512_mask_storeu_ps(p + 16, static_cast<__mmask16>(m.all >> 16), _mm512_permutex2var_ps(v.a, high, v.b));
    }
};

/// Thirty-two fp16 elements: a has the first sixteen, b the others.
struct PairFp16 : VectorPair<Single> {
    using M = HalfMask;

    NORMTUNE_INLINE M mask(std::int64_t n) { return {first_bits(n, 32), Single::mask(n), Single::mask(n - 16)}; }
    NORMTUNE_INLINE F select(M m, F v) { return {Single::select(m.a, v.a), Single::select(m.b, v.b)}; }

    NORMTUNE_INLINE __m256i narrow(__m512 v) { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
    NORMTUNE_INLINE F round(F v) { return {_mm512_cvtph_ps(narrow(v.a)), _mm512_cvtph_ps(narrow(v.b))}; }

    NORMTUNE_INLINE F load(const fp16* p) {
        return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
                _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 16)))};
    }
    NORMTUNE_INLINE F load(const fp16* p, M m) {
        return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m.a, p)), _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m.b, p + 16))};
    }
    NORMTUNE_INLINE void store(fp16* p, F v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow(v.a));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 16), narrow(v.b));
    }
    NORMTUNE_INLINE void store(fp16* p, F v, M m) {
        _mm256_mask_storeu_epi16(p, m.a, narrow(v.a));
        _mm256_mask_storeu_epi16(p + 16, m.b, narrow(v.b));
    }
    NORMTUNE_INLINE void stream(fp16* p, F v) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(p), narrow(v.a));
        _mm256_stream_si256(reinterpret_cast<__m256i*>(p + 16), narrow(v.b));
    }
    NORMTUNE_INLINE F load_wide(const float* p, M m) { return {Single::load(p, m.a), Single::load(p + 16, m.b)}; }
    NORMTUNE_INLINE void store_wide(float* p, F v, M m) {
        Single::store(p, v.a, m.a);
        Single::store(p + 16, v.b, m.b);
    }
};

struct InstructionSet {
    static constexpr const char* name = "avx512";
    static Single of(float);
    static PairBf16 of(bf16);
    static PairFp16 of(fp16);
    static void fence() { _mm_sfence(); }
};

}  // namespace normtune::cpu::avx512
