// The backward row passes for one instruction set: dx and dgamma.
#pragma once

#include "kernels/cpu/pass_steps.h"

namespace normtune::cpu {

template <class V, class T>
struct Backward : Steps<V, T> {
    using S = Steps<V, T>;
    using S::lanes;
    using typename S::F;
    using typename S::M;

    /// rstd, any NaN being the one that rounding to bf16 keeps.
    [[gnu::always_inline]] static inline float quiet(float rstd) { return rstd == rstd ? rstd : __builtin_nanf(""); }

    /// m = dy·g, rounded to T by Liger's casting.
    template <Casting C>
    [[gnu::always_inline]] static inline F scaled(F dy, F g) {
        const F m = V::mul(dy, g);
        return C == Casting::none ? V::round(m) : m;
    }
    /// Adds one row's dy·n to gamma's gradient.
    template <Casting C>
    [[gnu::always_inline]] static inline F add_gradient(F sum, F dy, F x, F scale) {
        F normal = V::mul(x, scale);
        if constexpr (C != Casting::gemma) {
            normal = V::round(normal);
        }
        if constexpr (C == Casting::none && sizeof(T) == 2) {
            return V::add(sum, V::round(V::mul(dy, normal)));
        } else {
            return V::fma(dy, normal, sum);
        }
    }

    template <Casting C, bool Masked, bool Select, int U, int R>
    [[gnu::always_inline]] static inline void sum_step(const RowTile& t, const T* const (&x)[R], const T* const (&dy)[R],
                                                       const F (&scale)[R], F offset, std::int64_t c, std::int64_t end, F (&sums)[R][U]) {
        NORMTUNE_UNROLL
        for (int u = 0; u < U; ++u) {
            const std::int64_t at = c + u * lanes;
            const M mask = Masked ? V::mask(end - at) : M{};
            const F g = S::template gamma<Masked>(t, offset, c, u * lanes, mask);
            F gradient = t.dgamma != nullptr ? V::load_row(t.dgamma + at) : V::zero();
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const F xv = S::template load<Masked>(x[r] + at, mask);
                const F dyv = S::template load<Masked>(dy[r] + at, mask);
                const F m = scaled<C>(dyv, g);
                if (t.scratch_x != nullptr) {
                    V::store_row(t.scratch_x + r * t.scratch_stride + at, xv);
                    V::store_row(t.scratch_m + r * t.scratch_stride + at, m);
                }
                if constexpr (Select) {
                    sums[r][u] = V::add(sums[r][u], V::select(mask, V::mul(m, xv)));
                } else {
                    sums[r][u] = V::fma(m, xv, sums[r][u]);
                }
                if (t.dgamma != nullptr) {
                    gradient = add_gradient<C>(gradient, dyv, xv, scale[r]);
                }
            }
            if (t.dgamma != nullptr) {
                V::store_row(t.dgamma + at, gradient);
            }
        }
    }

    template <Casting C, Reduction Form, int U, int R>
    static void gradient_sum(const RowTile& tile, std::int64_t begin, std::int64_t end, float* sums) {
        const RowTile t = tile;  // a copy: what is stored to memory cannot change it
        constexpr int step = U * lanes;
        const T* x[R];
        const T* dy[R];
        F scale[R];
        F accumulators[R][U];
        NORMTUNE_UNROLL
        for (int r = 0; r < R; ++r) {
            x[r] = static_cast<const T*>(t.x) + r * t.x_stride;
            dy[r] = static_cast<const T*>(t.dy) + r * t.cols;
            scale[r] = V::set(t.scale[r]);
            NORMTUNE_UNROLL
            for (int u = 0; u < U; ++u) {
                accumulators[r][u] = V::zero();
            }
        }
        const F offset = V::set(t.offset);
        const bool fetch = t.prefetch == Prefetch::streaming && t.ahead == 0;
        for (std::int64_t c = begin; c < end; c += step) {
            if (fetch) {
                for (int r = 0; r < R; ++r) {
                    S::prefetch(x[r] + c, streaming_distance<T>, step, Prefetch::streaming);
                    S::prefetch(dy[r] + c, streaming_distance<T>, step, Prefetch::streaming);
                }
            }
            if (Form == Reduction::even || (Form == Reduction::guard && c + step <= end)) {
                sum_step<C, false, false>(t, x, dy, scale, offset, c, end, accumulators);
            } else if constexpr (Form != Reduction::even) {
                sum_step<C, true, Form == Reduction::where>(t, x, dy, scale, offset, c, end, accumulators);
            }
        }
        S::reduce(accumulators, sums);
    }

    /// dx = rstd·m − coefficient·x [+ ds]
    template <bool Masked>
    [[gnu::always_inline]] static inline F gradient(const RowTile& t, F x, F m, F rstd, F coefficient, std::int64_t flat, M mask) {
        F dx = V::sub(V::mul(rstd, m), V::mul(coefficient, x));
        if (t.ds != nullptr) {
            dx = V::add(dx, S::template load<Masked>(static_cast<const T*>(t.ds) + flat, mask));
        }
        return dx;
    }

    template <Casting C, bool Masked, bool Stream, int U, int R>
    [[gnu::always_inline]] static inline void write_step(const RowTile& t, const T* const (&x)[R], const T* const (&dy)[R],
                                                         const F (&rstd)[R], const F (&coefficient)[R], F offset, std::int64_t c, M mask) {
        NORMTUNE_UNROLL
        for (int u = 0; u < U; ++u) {
            const std::int64_t at = c + u * lanes;
            const F g = t.scratch_x != nullptr ? V::zero() : S::template gamma<Masked>(t, offset, c, u * lanes, mask);
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                F xv;
                F m;
                if (t.scratch_x != nullptr) {
                    xv = V::load_row(t.scratch_x + r * t.scratch_stride + at);
                    m = V::load_row(t.scratch_m + r * t.scratch_stride + at);
                } else {
                    xv = S::template load<Masked>(x[r] + at, mask);
                    m = scaled<C>(S::template load<Masked>(dy[r] + at, mask), g);
                }
                const std::int64_t flat = r * t.cols + at;
                S::template store<Masked, Stream>(static_cast<T*>(t.dx) + flat,
                                                  gradient<Masked>(t, xv, m, rstd[r], coefficient[r], flat, mask), mask);
            }
        }
    }

    template <Casting C, bool Stream, int U, int R>
    static void gradient_rows(const RowTile& tile, std::int64_t begin, std::int64_t end) {
        const RowTile t = tile;  // a copy: what is stored to memory cannot change it
        constexpr int step = U * lanes;
        const T* x[R];
        const T* dy[R];
        F rstd[R];
        F coefficient[R];
        NORMTUNE_UNROLL
        for (int r = 0; r < R; ++r) {
            x[r] = static_cast<const T*>(t.x) + r * t.x_stride;
            dy[r] = static_cast<const T*>(t.dy) + r * t.cols;
            rstd[r] = V::set(t.rstd[r]);
            coefficient[r] = V::set(t.coefficient[r]);
        }
        const F offset = V::set(t.offset);
        const bool fetch = t.prefetch != Prefetch::none && t.ahead > 0;
        std::int64_t c = begin;
        for (; c + step <= end; c += step) {
            if (fetch) {
                for (int r = 0; r < R; ++r) {
                    S::prefetch(x[r] + c, t.ahead * t.x_stride, step, t.prefetch);
                    S::prefetch(dy[r] + c, t.ahead * t.cols, step, t.prefetch);
                    if (t.ds != nullptr) {
                        S::prefetch(static_cast<const T*>(t.ds) + r * t.cols + c, t.ahead * t.cols, step, t.prefetch);
                    }
                }
            }
            write_step<C, false, Stream, U>(t, x, dy, rstd, coefficient, offset, c, M{});
        }
        for (; c < end; c += lanes) {
            write_step<C, true, Stream, 1>(t, x, dy, rstd, coefficient, offset, c, V::mask(end - c));
        }
    }

    template <Casting C, bool Even, int U, int R>
    static void resident(const RowTile& t, std::int64_t rows) {
        M masks[U];
        F gradients[U];
        NORMTUNE_UNROLL
        for (int u = 0; u < U; ++u) {
            masks[u] = V::mask(t.cols - u * lanes);
            gradients[u] = V::zero();
        }
        const F offset = V::set(t.offset);
        for (std::int64_t row = 0; row < rows; row += R) {
            F x[R][U];
            F m[R][U];
            F products[R][U];
            F scale[R];
            float sums[R] = {};
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const T* px = static_cast<const T*>(t.x) + (row + r) * t.x_stride;
                const T* pdy = static_cast<const T*>(t.dy) + (row + r) * t.cols;
                if (t.prefetch != Prefetch::none) {
                    S::prefetch(px, t.ahead > 0 ? t.ahead * t.x_stride : streaming_distance<T>, U * lanes, t.prefetch);
                    S::prefetch(pdy, t.ahead > 0 ? t.ahead * t.cols : streaming_distance<T>, U * lanes, t.prefetch);
                }
                scale[r] = V::set(quiet(t.rstd_in[row + r]));
                if constexpr (C == Casting::none) {
                    scale[r] = V::round(scale[r]);
                }
                NORMTUNE_UNROLL
                for (int u = 0; u < U; ++u) {
                    const F g = S::template gamma<!Even>(t, offset, 0, (u * lanes) & static_cast<int>(t.gamma_columns), masks[u]);
                    x[r][u] = S::template load<!Even>(px + u * lanes, masks[u]);
                    const F dy = S::template load<!Even>(pdy + u * lanes, masks[u]);
                    m[r][u] = scaled<C>(dy, g);
                    products[r][u] = V::mul(m[r][u], x[r][u]);
                    gradients[u] = add_gradient<C>(gradients[u], dy, x[r][u], scale[r]);
                }
            }
            S::reduce(products, sums);
            NORMTUNE_UNROLL
            for (int r = 0; r < R; ++r) {
                const float rstd = quiet(t.rstd_in[row + r]);
                const F scaled_rstd = V::set(rstd);
                const F coefficient = V::set(rstd * rstd * rstd * t.inverse_cols * sums[r]);
                NORMTUNE_UNROLL
                for (int u = 0; u < U; ++u) {
                    const std::int64_t flat = (row + r) * t.cols + u * lanes;
                    const F dx = gradient<!Even>(t, x[r][u], m[r][u], scaled_rstd, coefficient, flat, masks[u]);
                    T* to = static_cast<T*>(t.dx) + flat;
                    if (Even && t.stream_rows) {
                        S::template store<!Even, true>(to, dx, masks[u]);
                    } else {
                        S::template store<!Even, false>(to, dx, masks[u]);
                    }
                }
            }
        }
        if (t.dgamma != nullptr) {
            NORMTUNE_UNROLL
            for (int u = 0; u < U; ++u) {
                V::store_row(t.dgamma + u * lanes, V::add(V::load_row(t.dgamma + u * lanes), gradients[u]));
            }
        }
    }

    template <Casting C>
    static void column_gradient(const RowTile& t, std::int64_t rows, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = 0; row < rows; ++row) {
            const T* x = static_cast<const T*>(t.x) + row * t.x_stride;
            const T* dy = static_cast<const T*>(t.dy) + row * t.cols;
            F scale = V::set(quiet(t.rstd_in[row]));
            if constexpr (C == Casting::none) {
                scale = V::round(scale);
            }
            std::int64_t c = begin;
            for (; c + lanes <= end; c += lanes) {
                float* sum = t.dgamma + c;
                V::store_row(sum, add_gradient<C>(V::load_row(sum), V::load(dy + c), V::load(x + c), scale));
            }
            if (c < end) {
                const M mask = V::mask(end - c);
                float* sum = t.dgamma + c;
                V::store_row(sum, add_gradient<C>(V::load_row(sum), V::load(dy + c, mask), V::load(x + c, mask), scale));
            }
        }
    }
};

}  // namespace normtune::cpu
