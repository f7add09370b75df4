// The backward half of an instruction set's PassSet.
#pragma once

#include "kernels/cpu/backward_passes.h"
#include "kernels/cpu/pass_selection.h"

namespace normtune::cpu {

template <class Isa>
struct BackwardTable {
    static SumPass gradient_sum(const PassKey& key) {
        return with_casting(key, [&]<class T, Casting C>() {
            return with_reduction(key.reduction, [&]<Reduction Form>() {
                return with_tile<VectorOf<Isa, T>::accumulators>(key.vectors, key.rows, []<int U, int R>() -> SumPass {
                    return &Backward<VectorOf<Isa, T>, T>::template gradient_sum<C, Form, U, R>;
                });
            });
        });
    }

    static WritePass gradient_rows(const PassKey& key) {
        const int vectors = write_vectors(key.vectors, key.rows);
        return with_element(key.dtype, [&]<class T>() {
            return with_tile<most_rows>(vectors, key.rows, [&]<int U, int R>() -> WritePass {
                if constexpr (sizeof(T) == 2) {
                    if (key.casting == Casting::none) {
                        return key.stream ? &Backward<VectorOf<Isa, T>, T>::template gradient_rows<Casting::none, true, U, R>
                                          : &Backward<VectorOf<Isa, T>, T>::template gradient_rows<Casting::none, false, U, R>;
                    }
                }
                return key.stream ? &Backward<VectorOf<Isa, T>, T>::template gradient_rows<Casting::llama, true, U, R>
                                  : &Backward<VectorOf<Isa, T>, T>::template gradient_rows<Casting::llama, false, U, R>;
            });
        });
    }

    static ResidentPass resident(const PassKey& key) {
        return with_casting(key, [&]<class T, Casting C>() {
            return with_tile<VectorOf<Isa, T>::accumulators>(key.vectors, key.rows, [&]<int U, int R>() -> ResidentPass {
                return key.reduction == Reduction::even ? &Backward<VectorOf<Isa, T>, T>::template resident<C, true, U, R>
                                                        : &Backward<VectorOf<Isa, T>, T>::template resident<C, false, U, R>;
            });
        });
    }

    static ColumnPass column_gradient(const PassKey& key) {
        return with_casting(key,
                            []<class T, Casting C>() -> ColumnPass { return &Backward<VectorOf<Isa, T>, T>::template column_gradient<C>; });
    }

    static FoldPass fold(const PassKey& key) {
        return with_element(key.dtype, []<class T>() -> FoldPass { return &fold_rows<T>; });
    }

    template <class T>
    static void fold_rows(const float* rows, std::int64_t stride, int count, void* out, bool narrow, std::int64_t begin, std::int64_t end) {
        using V = VectorOf<Isa, T>;
        for (std::int64_t c = begin; c < end; c += V::lanes) {
            auto sum = V::zero();
            for (int i = 0; i < count; ++i) {
                sum = V::add(sum, V::load_row(rows + i * stride + c));  // rows are padded
            }
            if (narrow) {
                V::store(static_cast<T*>(out) + c, sum, V::mask(end - c));
            } else {
                V::store_wide(static_cast<float*>(out) + c, sum, V::mask(end - c));
            }
        }
    }
};

}  // namespace normtune::cpu
