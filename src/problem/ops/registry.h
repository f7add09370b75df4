// All ops, in the order of Op.
#pragma once

#include <array>

#include "problem/ops/fused_add_rms_norm.h"
#include "problem/ops/rms_norm.h"

namespace normtune {

enum class Op { rms_norm, fused_add_rms_norm };
inline constexpr std::array op_registry{rms_norm_op, fused_add_rms_norm_op};
inline constexpr auto op_names = names_of<Op>(op_registry);

constexpr const OpDescriptor& descriptor_of(Op op) {
    return op_registry.at(static_cast<std::size_t>(op));
}

}  // namespace normtune
