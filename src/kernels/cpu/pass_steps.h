// Pieces that the forward and the backward passes share. Everything is a template on the instruction set's Vector, and
// no function of the standard library is called: the linker must never merge code for different instruction sets.
#pragma once

#include "kernels/cpu/row_tile.h"

#define NORMTUNE_UNROLL _Pragma("GCC unroll 16")

namespace normtune::cpu {

template <class V, class T>
struct Steps {
    using F = typename V::F;
    using M = typename V::M;
    static constexpr int lanes = V::lanes;

    /// Gamma of the vector `within` columns after `column`, offset added. `mask` counts where Masked.
    template <bool Masked>
    [[gnu::always_inline]] static inline F gamma(const RowTile& t, F offset, std::int64_t column, int within, M mask) {
        const std::int64_t at = (column & t.gamma_columns) + within;
        if (t.gamma_form == GammaForm::prepared) {
            return V::load_row(static_cast<const float*>(t.gamma) + at);
        }
        if (t.gamma_form == GammaForm::narrow) {
            return V::add(offset, load<Masked>(static_cast<const T*>(t.gamma) + at, mask));
        }
        return V::add(offset, V::load_wide(static_cast<const float*>(t.gamma) + at, Masked ? mask : V::mask(lanes)));
    }

    template <bool Masked>
    [[gnu::always_inline]] static inline F load(const T* p, M mask) {
        if constexpr (Masked) {
            return V::load(p, mask);
        } else {
            return V::load(p);
        }
    }
    template <bool Masked, bool Stream>
    [[gnu::always_inline]] static inline void store(T* p, F v, M mask) {
        if constexpr (Masked) {
            V::store(p, v, mask);
        } else if constexpr (Stream) {
            V::stream(p, v);
        } else {
            V::store(p, v);
        }
    }

    /// Fetches `elements` elements, `ahead` elements after p. The address may lie behind the tensor: nothing is read.
    [[gnu::always_inline]] static inline void prefetch(const T* p, std::int64_t ahead, int elements, Prefetch kind) {
        const auto address = reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(ahead) * sizeof(T);
        for (std::uintptr_t byte = 0; byte < static_cast<std::uintptr_t>(elements) * sizeof(T); byte += 64) {
            const void* line = reinterpret_cast<const void*>(address + byte);  // NOLINT(performance-no-int-to-ptr)
            if (kind == Prefetch::streaming) {
                __builtin_prefetch(line, 0, 0);
            } else {
                __builtin_prefetch(line, 0, 3);
            }
        }
    }

    /// Sums of R · U accumulators by row.
    template <int U, int R>
    [[gnu::always_inline]] static inline void reduce(F (&accumulators)[R][U], float* sums) {
        NORMTUNE_UNROLL
        for (int r = 0; r < R; ++r) {
            NORMTUNE_UNROLL
            for (int half = U / 2; half > 0; half /= 2) {
                NORMTUNE_UNROLL
                for (int u = 0; u < half; ++u) {
                    accumulators[r][u] = V::add(accumulators[r][u], accumulators[r][u + half]);
                }
            }
            sums[r] += V::sum(accumulators[r][0]);
        }
    }
};

/// Elements that a streaming load hint fetches ahead within the row.
template <class T>
inline constexpr std::int64_t streaming_distance = 1024 / static_cast<std::int64_t>(sizeof(T));

}  // namespace normtune::cpu
