// What is computed: the op, its mode, its types and the places where it rounds. Semantics: docs/semantics.md.
#pragma once

#include <string>

#include "support/names.h"

namespace normtune {

enum class Op { rms_norm, fused_add_rms_norm };
enum class Mode { forward, backward, full };  // full: forward, then backward
enum class Dtype { fp32, bf16, fp16 };
/// Where the rounding to the tensor's type T happens (x32 = float(x), rstd = rsqrt(mean(x32²) + eps) in fp32, n =
/// x32·rstd, g = offset + w in fp32, m = dy·g; sums and everything not named here are fp32):
///   llama  y = T(T(n)·g): the normalised row is rounded before gamma.   dx from m;              dw = Σ dy·T(n)
///   gemma  y = T(n·g): one rounding at the end.                        dx from m;              dw = Σ dy·n
///   none   Liger's, element-wise in T: rstd from mean(T(x·x)) summed in fp32; n = T(x·T(rstd)); g = T(T(offset) +
///   T(w));
///          y = T(n·g).                                                 dx from m = T(dy·g);    dw = Σ T(dy·n)
/// dx = T(rstd·m − (rstd³/N)·Σ(m·x)·x [+ ds for the fused op, added in fp32 before the rounding]).
enum class Casting { llama, gemma, none };
/// fused add: is the sum x + r rounded to T before it is squared (Liger, vLLM) or kept in fp32 (quack, flashinfer).
enum class ResidualPrecision { rounded, fp32 };

inline constexpr NameTable<Op, 2> op_names{{"rms_norm", "fused_add_rms_norm"}};
inline constexpr NameTable<Mode, 3> mode_names{{"forward", "backward", "full"}};
inline constexpr NameTable<Dtype, 3> dtype_names{{"fp32", "bf16", "fp16"}};
inline constexpr NameTable<Casting, 3> casting_names{{"llama", "gemma", "none"}};
inline constexpr NameTable<ResidualPrecision, 2> residual_names{{"rounded", "fp32"}};

constexpr int bytes_of(Dtype dtype) {
    return dtype == Dtype::fp32 ? 4 : 2;
}

/// Unit roundoff u of a type: 2⁻²⁴ fp32, 2⁻⁸ bf16, 2⁻¹¹ fp16.
constexpr double unit_roundoff(Dtype dtype) {
    return dtype == Dtype::fp32 ? 0x1p-24 : dtype == Dtype::bf16 ? 0x1p-8 : 0x1p-11;
}

struct Operation {
    Op op = Op::rms_norm;
    Mode mode = Mode::forward;
    Dtype dtype = Dtype::bf16;
    Casting casting = Casting::llama;
    Dtype weight_dtype = Dtype::bf16;                         // gamma's and dgamma's type: dtype, or fp32
    bool affine = true;                                       // false: weightless (gamma is 1, and there is no dgamma)
    int offset = 0;                                           // 0, or 1 for zero-centred gamma; added in fp32 (llama, gemma)
    bool in_place = false;                                    // backward and full: dx is written over dy
    ResidualPrecision residual = ResidualPrecision::rounded;  // fused_add_rms_norm only
    double eps = 1e-6;                                        // a run-time argument everywhere: never part of compiled code

    bool fused() const { return op == Op::fused_add_rms_norm; }
    bool has_forward() const { return mode != Mode::backward; }
    bool has_backward() const { return mode != Mode::forward; }
    friend bool operator==(const Operation&, const Operation&) = default;
};

}  // namespace normtune
