// What is computed: the op, its mode, its types and the places where it rounds. Semantics: docs/semantics.md.
#pragma once

#include <array>

#include "problem/dtype.h"
#include "problem/ops/registry.h"
#include "support/names.h"

namespace normtune {

enum class Mode { forward, backward, full, inference };  // full: forward, then backward; inference: a forward that saves nothing
enum class Casting { llama, gemma, none };               // where values are rounded to x's type
/// Is the sum x + residual rounded to its type before it is squared (Liger, vLLM) or kept in fp32 (quack, flashinfer)?
enum class ResidualPrecision { rounded, fp32 };

inline constexpr NameTable<Mode, 4> mode_names{{"forward", "backward", "full", "inference"}};
inline constexpr NameTable<Casting, 3> casting_names{{"llama", "gemma", "none"}};
inline constexpr NameTable<ResidualPrecision, 2> residual_names{{"rounded", "fp32"}};

struct Operation {
    Op op = Op::rms_norm;
    Mode mode = Mode::forward;
    Dtype dtype = Dtype::bf16;
    Casting casting = Casting::llama;
    Dtype weight_dtype = Dtype::bf16;                         // gamma's and dgamma's type: dtype, or fp32
    bool affine = true;                                       // false: weightless (gamma is 1, and there is no dgamma)
    int offset = 0;                                           // 0, or 1 for zero-centred gamma; added in fp32 (llama, gemma)
    bool in_place = false;                                    // backward, full: dx over dy; inference: y over x, s over residual
    ResidualPrecision residual = ResidualPrecision::rounded;  // ops that add a residual
    double eps = 1e-6;                                        // a run-time argument everywhere: never part of compiled code

    bool has_forward() const { return mode != Mode::backward; }
    bool has_backward() const { return mode == Mode::backward || mode == Mode::full; }
    /// A forward's inputs are needed again by the backward that is to follow.
    bool can_be_in_place() const { return mode != Mode::forward; }
    const OpDescriptor& descriptor() const { return descriptor_of(op); }
    /// Does a pass of the mode touch such a tensor? (In place, dx has dy's memory.)
    bool has(TensorRole role) const {
        const OpDescriptor& of = descriptor();
        const std::uint32_t forward_roles = mode == Mode::inference ? of.forward_roles & ~of.saved_roles : of.forward_roles;
        const std::uint32_t roles = (has_forward() ? forward_roles : 0) | (has_backward() ? of.backward_roles : 0);
        return (((affine ? roles : roles & ~of.weight_roles) >> static_cast<int>(role)) & 1U) != 0;
    }
    /// y, whose rows are contiguous, does not lie over an x whose rows are not.
    bool can_have_stride() const { return !in_place || mode != Mode::inference; }
    /// Is the tensor written over another one? In place, of what the backward writes, and in inference of what the forward writes.
    bool is_over_another(const TensorSpec& tensor) const {
        return in_place && tensor.in_place != tensor.role && (has_backward() ? tensor.backward : tensor.forward) == Touch::written;
    }
    /// The tensor whose memory has that one: another's, where it is written over it.
    TensorRole holder_of(TensorRole role) const {
        for (const TensorSpec& tensor : descriptor().tensors) {
            if (tensor.role == role && is_over_another(tensor)) {
                return tensor.in_place;
            }
        }
        return role;
    }
    bool adds_residual() const { return descriptor().has(TensorRole::residual); }
    /// Tensors that a pass reads row by row.
    int row_inputs(bool backward) const { return backward ? descriptor().backward_row_inputs : descriptor().forward_row_inputs; }
    /// The tensor that the backward reads as its x.
    TensorRole backward_input() const { return has_forward() ? descriptor().saved_input : TensorRole::x; }
    /// What the casting rounds: nothing where x is fp32.
    RoundingContract contract() const {
        return is_narrow(dtype) ? descriptor().contracts[static_cast<std::size_t>(casting)] : RoundingContract{};
    }
    friend bool operator==(const Operation&, const Operation&) = default;
};

}  // namespace normtune
