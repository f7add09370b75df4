// s = x + residual is stored, y is the norm of s. The backward's x is that s, and dx, which is also the residual's
// gradient, has ds added: the gradient that comes in along the residual.
#pragma once

#include <array>

#include "problem/ops/op_descriptor.h"

namespace normtune {

inline constexpr std::array<TensorSpec, 10> fused_add_rms_norm_tensors{{
    {TensorRole::x, ElementType::of_x, Extent::strided_rows, TensorKind::signal, Touch::read, Touch::read},
    {TensorRole::residual, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::read, Touch::none},
    {TensorRole::gamma, ElementType::of_weights, Extent::one_row, TensorKind::weight, Touch::read, Touch::read},
    {TensorRole::dy, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::none, Touch::read},
    {TensorRole::ds, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::none, Touch::read},
    {TensorRole::y, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::written, Touch::none, TensorRole::x},
    {TensorRole::s, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::written, Touch::none, TensorRole::residual},
    {TensorRole::rstd, ElementType::fp32, Extent::row_values, TensorKind::statistic, Touch::written, Touch::read},
    {TensorRole::dx, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::none, Touch::written, TensorRole::dy},
    {TensorRole::dgamma, ElementType::of_weights, Extent::one_row, TensorKind::weight, Touch::none, Touch::written},
}};

/// Inputs of these sites are projections, not sums with a residual.
inline constexpr std::array<std::string_view, 4> sites_without_residual{"q_norm", "k_norm", "q_a", "kv_a"};

inline constexpr OpDescriptor fused_add_rms_norm_op = described({.name = "fused_add_rms_norm",
                                                                 .formula = Formula::rms_norm,
                                                                 .tensors = fused_add_rms_norm_tensors,
                                                                 .saved_input = TensorRole::s,
                                                                 .missing = {"has no residual add before it", sites_without_residual}});

}  // namespace normtune
