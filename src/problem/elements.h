// Elements of a tensor in host memory, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "problem/dtype.h"
#include "support/float_formats.h"

namespace normtune {

/// What memory holds for an element, and its conversions. A type without one does not compile.
template <Dtype>
struct ElementFormat;
template <>
struct ElementFormat<Dtype::fp32> {
    using Code = float;
    static float decode(Code code) { return code; }
    static Code encode(float value) { return value; }
    static double round(double value) { return round_to_fp32(value); }
};
template <>
struct ElementFormat<Dtype::bf16> {
    using Code = std::uint16_t;
    static float decode(Code code) { return bf16_to_float(code); }
    static Code encode(float value) { return bf16_from_float(value); }
    static double round(double value) { return round_to_bf16(value); }
};
template <>
struct ElementFormat<Dtype::fp16> {
    using Code = std::uint16_t;
    static float decode(Code code) { return fp16_to_float(code); }
    static Code encode(float value) { return fp16_from_float(value); }
    static double round(double value) { return round_to_fp16(value); }
};

/// Element `index` (counted over the span, gaps included) and the following ones, decoded exactly.
void decode(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<float> out);
void decode(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<double> out);

/// Rounds each value to `dtype` and stores it from element `index` on.
void encode(Dtype dtype, std::span<const float> values, std::int64_t index, std::byte* tensor);

}  // namespace normtune
