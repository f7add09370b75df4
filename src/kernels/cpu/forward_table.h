// The forward half of an instruction set's PassSet.
#pragma once

#include "kernels/cpu/forward_passes.h"
#include "kernels/cpu/pass_selection.h"

namespace normtune::cpu {

template <class Isa>
struct ForwardTable {
    static SumPass square_sum(const PassKey& key) {
        return with_element(key.dtype, [&]<class T>() {
            return with_reduction(key.reduction, [&]<Reduction Form>() {
                return with_tile<VectorOf<Isa, T>::accumulators>(key.vectors, key.rows, [&]<int U, int R>() -> SumPass {
                    if constexpr (sizeof(T) == 2) {
                        if (key.casting == Casting::none) {
                            return &Forward<VectorOf<Isa, T>, T>::template square_sum<true, Form, U, R>;
                        }
                    }
                    return &Forward<VectorOf<Isa, T>, T>::template square_sum<false, Form, U, R>;
                });
            });
        });
    }

    static WritePass scale_rows(const PassKey& key) {
        const int vectors = write_vectors(key.vectors, key.rows);
        return with_element(key.dtype, [&]<class T>() {
            return with_tile<most_rows>(vectors, key.rows, [&]<int U, int R>() -> WritePass {
                if constexpr (sizeof(T) == 2) {
                    if (key.casting != Casting::gemma) {
                        return key.stream ? &Forward<VectorOf<Isa, T>, T>::template scale_rows<true, true, U, R>
                                          : &Forward<VectorOf<Isa, T>, T>::template scale_rows<true, false, U, R>;
                    }
                }
                return key.stream ? &Forward<VectorOf<Isa, T>, T>::template scale_rows<false, true, U, R>
                                  : &Forward<VectorOf<Isa, T>, T>::template scale_rows<false, false, U, R>;
            });
        });
    }

    static ResidentPass resident(const PassKey& key) {
        return with_casting(key, [&]<class T, Casting C>() {
            return with_tile<2 * VectorOf<Isa, T>::accumulators>(key.vectors, key.rows, [&]<int U, int R>() -> ResidentPass {
                return key.reduction == Reduction::even ? &Forward<VectorOf<Isa, T>, T>::template resident<C, true, U, R>
                                                        : &Forward<VectorOf<Isa, T>, T>::template resident<C, false, U, R>;
            });
        });
    }

    static GammaPass prepare_gamma(const PassKey& key) {
        return with_element(key.dtype, []<class T>() -> GammaPass { return &prepare<T>; });
    }

    template <class T>
    static void prepare(const void* gamma, bool narrow, float offset, bool rounded, float* out, std::int64_t cols) {
        using V = VectorOf<Isa, T>;
        auto added = V::set(offset);
        if (rounded) {
            added = V::round(added);
        }
        for (std::int64_t c = 0; c < cols; c += V::lanes) {
            const auto mask = V::mask(cols - c);
            auto w = narrow ? V::load(static_cast<const T*>(gamma) + c, mask) : V::load_wide(static_cast<const float*>(gamma) + c, mask);
            if (rounded) {
                w = V::round(V::add(added, V::round(V::add(w, V::zero()))));  // the addition quiets NaN, which round needs
            } else {
                w = V::add(added, w);
            }
            V::store_row(out + c, w);
        }
    }

    static void copy(void* to, const void* from, std::int64_t bytes) { copy_lines<false>(to, from, bytes); }
    static void copy_stream(void* to, const void* from, std::int64_t bytes) { copy_lines<true>(to, from, bytes); }

    static float read(const void* from, std::int64_t bytes) {
        using V = VectorOf<Isa, float>;
        constexpr int line = 64 / static_cast<int>(sizeof(float));
        const auto* source = static_cast<const float*>(from);
        typename V::F sums[line / V::lanes];
        for (auto& sum : sums) {
            sum = V::zero();
        }
        for (std::int64_t i = 0; i < bytes / static_cast<std::int64_t>(sizeof(float)); i += line) {
            NORMTUNE_UNROLL
            for (int part = 0; part < line; part += V::lanes) {
                sums[part / V::lanes] = V::add(sums[part / V::lanes], V::load(source + i + part));
            }
        }
        float all = 0;
        for (const auto& sum : sums) {
            all += V::sum(sum);
        }
        return all;
    }

    template <bool Stream>
    static void copy_lines(void* to, const void* from, std::int64_t bytes) {
        using V = VectorOf<Isa, float>;
        constexpr int line = 64 / static_cast<int>(sizeof(float));
        const auto* source = static_cast<const float*>(from);
        auto* target = static_cast<float*>(to);
        for (std::int64_t i = 0; i < bytes / static_cast<std::int64_t>(sizeof(float)); i += line) {
            NORMTUNE_UNROLL
            for (int part = 0; part < line; part += V::lanes) {
                if constexpr (Stream) {
                    V::stream(target + i + part, V::load(source + i + part));
                } else {
                    V::store(target + i + part, V::load(source + i + part));
                }
            }
        }
    }
};

}  // namespace normtune::cpu
