// Rows of a tensor in host memory, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace normtune {

/// The bytes of a problem's tensors by role, each exactly Tensor::span_bytes() long.
using HostTensors = std::map<TensorRole, std::vector<std::byte>>;

/// Element `index` (counted over the span, gaps included) and the following ones, decoded exactly.
void decode(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<float> out);
void decode(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<double> out);

/// Rounds each value to `dtype` and stores it from element `index` on.
void encode(Dtype dtype, std::span<const float> values, std::int64_t index, std::byte* tensor);

}  // namespace normtune
