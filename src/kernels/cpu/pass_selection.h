// From a PassKey to the instantiated pass. The switches below are the list of what is built.
#pragma once

#include "kernels/cpu/element.h"
#include "kernels/cpu/row_tile.h"

namespace normtune::cpu {

/// The vector in which an instruction set handles elements of type T.
template <class Isa, class T>
using VectorOf = decltype(Isa::of(T{}));

template <Dtype>
struct ElementOf;
template <>
struct ElementOf<Dtype::fp32> {
    using type = float;
};
template <>
struct ElementOf<Dtype::bf16> {
    using type = bf16;
};
template <>
struct ElementOf<Dtype::fp16> {
    using type = fp16;
};

/// Calls make.<T>() with the element type.
template <class Make>
auto with_element(Dtype dtype, const Make& make) {
    return with_dtype(dtype, [&]<Dtype D>() { return make.template operator()<typename ElementOf<D>::type>(); });
}

/// Calls make.<T, C>() with the element type and the casting; in fp32 nothing is rounded, and one casting stands for
/// all.
template <class Make>
auto with_casting(const PassKey& key, const Make& make) {
    return with_element(key.dtype, [&]<class T>() {
        if constexpr (sizeof(T) == 2) {
            switch (key.casting) {
                case Casting::gemma:
                    return make.template operator()<T, Casting::gemma>();
                case Casting::none:
                    return make.template operator()<T, Casting::none>();
                default:
                    break;
            }
        }
        return make.template operator()<T, Casting::llama>();
    });
}

template <class Make>
auto with_reduction(Reduction reduction, const Make& make) {
    switch (reduction) {
        case Reduction::where:
            return make.template operator()<Reduction::where>();
        case Reduction::guard:
            return make.template operator()<Reduction::guard>();
        case Reduction::even:
            return make.template operator()<Reduction::even>();
        default:
            return make.template operator()<Reduction::masked>();
    }
}

constexpr int tile_code(int vectors, int rows) {
    return vectors * 8 + rows;
}

/// Calls make.<U, R>() for the tiles that have at most `Most` accumulators; null for the others.
template <int Most, class Make>
auto with_tile(int vectors, int rows, const Make& make) -> decltype(make.template operator()<1, 1>()) {
    switch (tile_code(vectors, rows)) {
        case tile_code(1, 1):
            return make.template operator()<1, 1>();
        case tile_code(2, 1):
            return make.template operator()<2, 1>();
        case tile_code(4, 1):
            return make.template operator()<4, 1>();
        case tile_code(1, 2):
            return make.template operator()<1, 2>();
        case tile_code(2, 2):
            return make.template operator()<2, 2>();
        case tile_code(1, 4):
            return make.template operator()<1, 4>();
        default:
            break;
    }
    if constexpr (Most >= 8) {
        switch (tile_code(vectors, rows)) {
            case tile_code(8, 1):
                return make.template operator()<8, 1>();
            case tile_code(4, 2):
                return make.template operator()<4, 2>();
            case tile_code(2, 4):
                return make.template operator()<2, 4>();
            default:
                break;
        }
    }
    if constexpr (Most >= 16) {
        switch (tile_code(vectors, rows)) {
            case tile_code(16, 1):
                return make.template operator()<16, 1>();
            case tile_code(8, 2):
                return make.template operator()<8, 2>();
            default:
                break;
        }
    }
    return nullptr;
}

}  // namespace normtune::cpu
