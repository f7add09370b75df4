// The forward row passes for one instruction set: RMSNorm, and the fused residual addition before it.
#pragma once

#include "kernels/cpu/pass_steps.h"

namespace normtune::cpu {

template <class V, class T>
struct Forward : Steps<V, T> {
    using S = Steps<V, T>;
    using S::lanes;
    using typename S::F;
    using typename S::M;

    /// The row to be normalised: x, or x + residual, which is stored to s.
    template <bool Masked>
    [[gnu::always_inline]] static inline F input(const RowTile& t, const T* x, int r, std::int64_t at, M mask) {
        F v = S::template load<Masked>(x + at, mask);
        if (t.residual != nullptr) {
            const std::int64_t flat = r * t.cols + at;
            const F sum = V::add(v, S::template load<Masked>(static_cast<const T*>(t.residual) + flat, mask));
            const F rounded = V::round(sum);
            T* s = static_cast<T*>(t.s) + flat;
            if (!Masked && t.stream_s) {
                V::stream(s, rounded);
            } else {
                S::template store<Masked, false>(s, rounded, mask);
            }
            v = t.keep_fp32_sum ? sum : rounded;
        }
        return v;
    }

    template <bool RoundSquares, bool Masked, bool Select, int U, int R>
    [[gnu::always_inline]] static inline void square_step(const RowTile& t, const T* const (&x)[R], std::int64_t c, std::int64_t end,
                                                          F (&sums)[R][U]) {
        NORMTUNE_UNROLL
        for (int u = 0; u < U; ++u) {
            const std::int64_t at = c + u * lanes;
            const M mask = Masked ? V::mask(end - at) : M{};
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const F v = input<Masked>(t, x[r], r, at, mask);
                if (t.scratch_x != nullptr) {
                    V::store_row(t.scratch_x + r * t.scratch_stride + at, v);
                }
                if constexpr (RoundSquares || Select) {
                    F square = V::mul(v, v);
                    if constexpr (RoundSquares) {
                        square = V::round(square);
                    }
                    if constexpr (Select) {
                        square = V::select(mask, square);
                    }
                    sums[r][u] = V::add(sums[r][u], square);
                } else {
                    sums[r][u] = V::fma(v, v, sums[r][u]);
                }
            }
        }
    }

    template <bool RoundSquares, Reduction Form, int U, int R>
    static void square_sum(const RowTile& tile, std::int64_t begin, std::int64_t end, float* sums) {
        const RowTile t = tile;  // a copy: what is stored to memory cannot change it
        constexpr int step = U * lanes;
        constexpr bool masked = Form == Reduction::masked || Form == Reduction::where;
        const T* x[R];
        F accumulators[R][U];
        NORMTUNE_UNROLL
        for (int r = 0; r < R; ++r) {
            x[r] = static_cast<const T*>(t.x) + r * t.x_stride;
            NORMTUNE_UNROLL
            for (int u = 0; u < U; ++u) {
                accumulators[r][u] = V::zero();
            }
        }
        const bool fetch = t.prefetch == Prefetch::streaming && t.ahead == 0;
        for (std::int64_t c = begin; c < end; c += step) {
            if (fetch) {
                for (int r = 0; r < R; ++r) {
                    S::prefetch(x[r] + c, streaming_distance<T>, step, Prefetch::streaming);
                }
            }
            if (Form == Reduction::even || (Form == Reduction::guard && c + step <= end)) {
                square_step<RoundSquares, false, false>(t, x, c, end, accumulators);
            } else if constexpr (Form != Reduction::even) {
                square_step<RoundSquares, true, Form == Reduction::where>(t, x, c, end, accumulators);
            }
        }
        static_assert(masked || Form == Reduction::guard || Form == Reduction::even);
        S::reduce(accumulators, sums);
    }

    template <bool RoundNormal, bool Masked, bool Stream, int U, int R>
    [[gnu::always_inline]] static inline void scale_step(const RowTile& t, const T* const (&x)[R], const F (&scale)[R], F offset,
                                                         std::int64_t c, M mask) {
        NORMTUNE_UNROLL
        for (int u = 0; u < U; ++u) {
            const F g = S::template gamma<Masked>(t, offset, c, u * lanes, mask);
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const std::int64_t at = c + u * lanes;
                const F v = t.scratch_x != nullptr ? V::load_row(t.scratch_x + r * t.scratch_stride + at)
                                                   : S::template load<Masked>(x[r] + at, mask);
                F normal = V::mul(v, scale[r]);
                if constexpr (RoundNormal) {
                    normal = V::round(normal);
                }
                S::template store<Masked, Stream>(static_cast<T*>(t.y) + r * t.cols + at, V::mul(normal, g), mask);
            }
        }
    }

    template <bool RoundNormal, bool Stream, int U, int R>
    static void scale_rows(const RowTile& tile, std::int64_t begin, std::int64_t end) {
        const RowTile t = tile;  // a copy: what is stored to memory cannot change it
        constexpr int step = U * lanes;
        const T* x[R];     // what pass one has left to read: s for the fused op
        const T* next[R];  // rows to fetch while these are written
        F scale[R];
        NORMTUNE_UNROLL
        for (int r = 0; r < R; ++r) {
            next[r] = static_cast<const T*>(t.x) + r * t.x_stride;
            x[r] = t.residual != nullptr ? static_cast<const T*>(t.s) + r * t.cols : next[r];
            scale[r] = V::set(t.scale[r]);
        }
        const F offset = V::set(t.offset);
        const bool fetch = t.prefetch != Prefetch::none && t.ahead > 0;
        std::int64_t c = begin;
        for (; c + step <= end; c += step) {
            if (fetch) {
                for (int r = 0; r < R; ++r) {
                    S::prefetch(next[r] + c, t.ahead * t.x_stride, step, t.prefetch);
                    if (t.residual != nullptr) {
                        S::prefetch(static_cast<const T*>(t.residual) + r * t.cols + c, t.ahead * t.cols, step, t.prefetch);
                    }
                }
            }
            scale_step<RoundNormal, false, Stream, U>(t, x, scale, offset, c, M{});
        }
        for (; c < end; c += lanes) {
            scale_step<RoundNormal, true, Stream, 1>(t, x, scale, offset, c, V::mask(end - c));
        }
    }

    template <Casting C, bool Even, int U, int R>
    static void resident(const RowTile& t, std::int64_t rows) {
        constexpr bool narrow = sizeof(T) == 2;
        constexpr bool round_normal = narrow && C != Casting::gemma;
        constexpr bool round_squares = narrow && C == Casting::none;
        M masks[U];
        NORMTUNE_UNROLL
        for (int u = 0; u < U; ++u) {
            masks[u] = V::mask(t.cols - u * lanes);
        }
        const F offset = V::set(t.offset);
        for (std::int64_t row = 0; row < rows; row += R) {
            RowTile now = t;
            now.residual = t.residual == nullptr ? nullptr : static_cast<const T*>(t.residual) + row * t.cols;
            now.s = t.residual == nullptr ? nullptr : static_cast<T*>(t.s) + row * t.cols;
            F v[R][U];
            F squares[R][U];
            float sums[R] = {};
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const T* x = static_cast<const T*>(t.x) + (row + r) * t.x_stride;
                if (t.prefetch != Prefetch::none) {
                    S::prefetch(x, t.ahead > 0 ? t.ahead * t.x_stride : streaming_distance<T>, U * lanes, t.prefetch);
                    if (t.residual != nullptr) {
                        S::prefetch(static_cast<const T*>(now.residual) + r * t.cols, t.ahead * t.cols, U * lanes, t.prefetch);
                    }
                }
                NORMTUNE_UNROLL
                for (int u = 0; u < U; ++u) {
                    v[r][u] = input<!Even>(now, x, r, u * lanes, masks[u]);
                    squares[r][u] = V::mul(v[r][u], v[r][u]);
                    if constexpr (round_squares) {
                        squares[r][u] = V::round(squares[r][u]);
                    }
                }
            }
            S::reduce(squares, sums);
            F scale[R];
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const float rstd = 1.0F / __builtin_sqrtf(sums[r] * t.inverse_cols + t.eps);
                if (t.rstd_out != nullptr) {
                    t.rstd_out[row + r] = rstd;
                }
                scale[r] = V::set(rstd);
                if constexpr (round_squares) {
                    scale[r] = V::round(scale[r]);
                }
            }
            const auto write = [&]<bool Stream>() __attribute__((always_inline)) {
                NORMTUNE_UNROLL
                for (int u = 0; u < U; ++u) {
                    const F g = S::template gamma<!Even>(t, offset, 0, (u * lanes) & static_cast<int>(t.gamma_columns), masks[u]);
                    NORMTUNE_UNROLL
                    for (int r = 0; r < R; ++r) {
                        F normal = V::mul(v[r][u], scale[r]);
                        if constexpr (round_normal) {
                            normal = V::round(normal);
                        }
                        T* y = static_cast<T*>(t.y) + (row + r) * t.cols + u * lanes;
                        S::template store<!Even, Stream>(y, V::mul(normal, g), masks[u]);
                    }
                }
            };
            if (Even && t.stream_rows) {
                write.template operator()<true>();
            } else {
                write.template operator()<false>();
            }
        }
    }
};

}  // namespace normtune::cpu
