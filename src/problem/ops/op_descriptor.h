// What an op is, as data: its tensors and how its passes touch them, its formula, where it occurs. One descriptor an op
// stands in a file of its own beside this one; registry.h lists them. A new op: CONTRIBUTING.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "problem/rounding.h"
#include "support/names.h"

namespace normtune {

enum class TensorRole { x, residual, gamma, dy, ds, y, s, rstd, dx, dgamma };
inline constexpr NameTable<TensorRole, 10> tensor_names{{"x", "residual", "gamma", "dy", "ds", "y", "s", "rstd", "dx", "dgamma"}};

/// x's type, the weights' own (Operation::weight_dtype), or one that no option changes.
enum class ElementType { of_x, of_weights, fp32 };

enum class Extent {
    strided_rows,  // rows × cols, Shape::row_stride apart
    rows,          // rows × cols, contiguous
    one_row,       // cols values
    row_values,    // one value a row
};

enum class TensorKind {
    signal,     // activations and their gradients
    weight,     // gamma and its gradient: absent where the op is weightless; as an input one tensor serves all buffer sets
    statistic,  // what the forward finds out about a row; as an input it must fit the row
};

enum class Touch { none, read, written };

struct TensorSpec {
    TensorRole role;
    ElementType type;
    Extent extent;
    TensorKind kind;
    Touch forward;
    Touch backward;
    TensorRole in_place = role;  // the tensor that it is written over with the option in_place, in the modes that have it
};

/// Which oracle, checks and bounds `verify` has for it: one serves all ops whose terms differ by their tensors alone.
enum class Formula { rms_norm };

/// Sites that cannot have the op, and why, for "nothing is selected: OP <why> at the sites …".
struct MissingSites {
    std::string_view why;
    std::span<const std::string_view> sites;
};

struct OpDescriptor {
    std::string_view name;  // in keys, files, options and records
    Formula formula;
    std::span<const TensorSpec> tensors;                                 // in the order of TensorRole
    std::span<const RoundingContract, 3> contracts = casting_contracts;  // by Casting
    TensorRole saved_input = TensorRole::x;  // what the backward reads as x after a forward of the same launch (mode full)
    bool of_models = true;                   // is it run at the sites of a Hugging Face model?
    MissingSites missing{};
    std::string_view liger_kernel{};  // `kernel_name` in Liger-Kernel's benchmark files; left out: the name

    /// Bit r: the tensor of role r. Filled in by described().
    std::uint32_t forward_roles = 0;
    std::uint32_t backward_roles = 0;
    std::uint32_t weight_roles = 0;
    std::uint32_t saved_roles = 0;  // what the forward writes for a backward alone
    int forward_row_inputs = 0;     // tensors that a pass reads row by row
    int backward_row_inputs = 0;

    constexpr bool has(TensorRole role) const { return (((forward_roles | backward_roles) >> static_cast<int>(role)) & 1U) != 0; }
};

/// The descriptor with what follows from its tensors.
constexpr OpDescriptor described(OpDescriptor op) {
    op.liger_kernel = op.liger_kernel.empty() ? op.name : op.liger_kernel;
    for (const TensorSpec& tensor : op.tensors) {
        const std::uint32_t bit = 1U << static_cast<int>(tensor.role);
        const bool in_rows = tensor.extent == Extent::strided_rows || tensor.extent == Extent::rows;
        op.forward_roles |= tensor.forward == Touch::none ? 0 : bit;
        op.backward_roles |= tensor.backward == Touch::none ? 0 : bit;
        op.saved_roles |= tensor.kind == TensorKind::statistic && tensor.forward == Touch::written ? bit : 0;
        op.weight_roles |= tensor.kind == TensorKind::weight ? bit : 0;
        op.forward_row_inputs += in_rows && tensor.forward == Touch::read ? 1 : 0;
        op.backward_row_inputs += in_rows && tensor.backward == Touch::read ? 1 : 0;
    }
    return op;
}

}  // namespace normtune
