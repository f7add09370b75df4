// Element types: one row a type. What depends on a type asks its row; what has code for each goes through with_dtype().
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "support/names.h"

namespace normtune {

enum class Dtype { fp32, bf16, fp16 };

struct DtypeRow {
    std::string_view name;
    std::string_view torch_name;
    int bytes;
    double unit_roundoff;    // u: half the distance from 1 to the next value
    double rounding_floor;   // what a result near 0 may be off by: two steps of fp16's subnormals; the others' least normal value
    double largest;          // finite value
    std::uint32_t exponent;  // the exponent's bits: all of them set in NaN and infinity
    std::uint32_t poison;    // a signalling NaN: no arithmetic produces it, and no copy of an input holds it
};

inline constexpr std::array<DtypeRow, 3> dtype_rows{{
    {"fp32", "torch.float32", 4, 0x1p-24, 0x1p-126, 0x1.fffffep127, 0x7f800000, 0xffa5a5a5},
    {"bf16", "torch.bfloat16", 2, 0x1p-8, 0x1p-126, 0x1.fep127, 0x7f80, 0xffa5},
    {"fp16", "torch.float16", 2, 0x1p-11, 0x1p-23, 65504, 0x7c00, 0xfda5},
}};
inline constexpr auto dtype_names = names_of<Dtype>(dtype_rows);

constexpr const DtypeRow& row_of(Dtype dtype) {
    return dtype_rows.at(static_cast<std::size_t>(dtype));
}
constexpr int bytes_of(Dtype dtype) {
    return row_of(dtype).bytes;
}
constexpr double unit_roundoff(Dtype dtype) {
    return row_of(dtype).unit_roundoff;
}
/// Narrower than fp32, in which all kernels calculate: a rounding to it shows.
constexpr bool is_narrow(Dtype dtype) {
    return bytes_of(dtype) < 4;
}

/// Calls make.<dtype>().
template <class Make>
auto with_dtype(Dtype dtype, const Make& make) {
    switch (dtype) {
        case Dtype::fp32:
            return make.template operator()<Dtype::fp32>();
        case Dtype::bf16:
            return make.template operator()<Dtype::bf16>();
        case Dtype::fp16:
            return make.template operator()<Dtype::fp16>();
    }
    throw std::logic_error("no such element type");
}

}  // namespace normtune
