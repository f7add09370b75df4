// y = x · rstd · g
#pragma once

#include <array>

#include "problem/ops/op_descriptor.h"

namespace normtune {

inline constexpr std::array<TensorSpec, 7> rms_norm_tensors{{
    {TensorRole::x, ElementType::of_x, Extent::strided_rows, TensorKind::signal, Touch::read, Touch::read},
    {TensorRole::gamma, ElementType::of_weights, Extent::one_row, TensorKind::weight, Touch::read, Touch::read},
    {TensorRole::dy, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::none, Touch::read},
    {TensorRole::y, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::written, Touch::none, TensorRole::x},
    {TensorRole::rstd, ElementType::fp32, Extent::row_values, TensorKind::statistic, Touch::written, Touch::read},
    {TensorRole::dx, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::none, Touch::written, TensorRole::dy},
    {TensorRole::dgamma, ElementType::of_weights, Extent::one_row, TensorKind::weight, Touch::none, Touch::written},
}};

inline constexpr OpDescriptor rms_norm_op = described({.name = "rms_norm", .formula = Formula::rms_norm, .tensors = rms_norm_tensors});

}  // namespace normtune
