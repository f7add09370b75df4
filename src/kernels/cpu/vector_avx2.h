// Eight fp32 lanes. Included only by sources that are compiled for AVX2, FMA and F16C.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/element.h"

#define NORMTUNE_INLINE [[gnu::always_inline]] static inline

namespace normtune::cpu::avx2 {

struct Vector {
    static constexpr int lanes = 8;
    static constexpr int accumulators = 4;
    using F = __m256;
    using Half = __m128i;  // eight 16-bit elements
    struct M {
        __m256i lanes32;
        int count;
    };

    NORMTUNE_INLINE F zero() { return _mm256_setzero_ps(); }
    NORMTUNE_INLINE F set(float v) { return _mm256_set1_ps(v); }
    NORMTUNE_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
    NORMTUNE_INLINE F sub(F a, F b) { return _mm256_sub_ps(a, b); }
    NORMTUNE_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
    NORMTUNE_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    NORMTUNE_INLINE F select(M m, F a) { return _mm256_and_ps(a, _mm256_castsi256_ps(m.lanes32)); }
    NORMTUNE_INLINE float sum(F a) {
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
    /// The first n lanes.
    NORMTUNE_INLINE M mask(std::int64_t n) {
        const int count = n >= lanes ? lanes : n <= 0 ? 0 : static_cast<int>(n);
        return {_mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), count};
    }

    NORMTUNE_INLINE F widen(Half h, bf16) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
    }
    NORMTUNE_INLINE F widen(Half h, fp16) { return _mm256_cvtph_ps(h); }
    /// Bits of the nearest bf16 in the upper half of each lane; the lower half is not cleared.
    NORMTUNE_INLINE __m256i nearest_bf16(F v) {
        const __m256i bits = _mm256_castps_si256(v);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
        const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
        return _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    }
    NORMTUNE_INLINE Half narrow(F v, bf16) {
        const __m256i upper = _mm256_srli_epi32(nearest_bf16(v), 16);
        return _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
    }
    NORMTUNE_INLINE Half narrow(F v, fp16) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

    NORMTUNE_INLINE F round(F v, float) { return v; }
    NORMTUNE_INLINE F round(F v, bf16) {
        return _mm256_castsi256_ps(_mm256_and_si256(nearest_bf16(v), _mm256_set1_epi32(static_cast<int>(0xffff0000U))));
    }
    NORMTUNE_INLINE F round(F v, fp16) { return _mm256_cvtph_ps(narrow(v, fp16{})); }

    NORMTUNE_INLINE F load(const float* p) { return _mm256_loadu_ps(p); }
    NORMTUNE_INLINE F load(const float* p, M m) { return _mm256_maskload_ps(p, m.lanes32); }
    NORMTUNE_INLINE void store(float* p, F v) { _mm256_storeu_ps(p, v); }
    NORMTUNE_INLINE void store(float* p, F v, M m) { _mm256_maskstore_ps(p, m.lanes32, v); }
    NORMTUNE_INLINE void stream(float* p, F v) { _mm256_stream_ps(p, v); }

    template <class T>
    NORMTUNE_INLINE F load(const T* p) {
        return widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), T{});
    }
    // AVX2 masks 32-bit lanes only: a partial vector of 16-bit elements goes through a buffer, out of line.
    [[gnu::noinline]] static Half load_part(const void* p, int count) {
        alignas(16) std::uint16_t buffer[lanes] = {};
        __builtin_memcpy(buffer, p, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
        return _mm_load_si128(reinterpret_cast<const __m128i*>(buffer));
    }
    [[gnu::noinline]] static void store_part(void* p, Half h, int count) {
        alignas(16) std::uint16_t buffer[lanes];
        _mm_store_si128(reinterpret_cast<__m128i*>(buffer), h);
        __builtin_memcpy(p, buffer, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
    }
    template <class T>
    NORMTUNE_INLINE F load(const T* p, M m) {
        return widen(m.count == lanes ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)) : load_part(p, m.count),
                     T{});
    }
    template <class T>
    NORMTUNE_INLINE void store(T* p, F v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow(v, T{}));
    }
    template <class T>
    NORMTUNE_INLINE void store(T* p, F v, M m) {
        const Half h = narrow(v, T{});
        if (m.count == lanes) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(p), h);
        } else {
            store_part(p, h, m.count);
        }
    }
    template <class T>
    NORMTUNE_INLINE void stream(T* p, F v) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(p), narrow(v, T{}));
    }

    NORMTUNE_INLINE void fence() { _mm_sfence(); }
};

}  // namespace normtune::cpu::avx2
