// The operations by the package's kernels.
#pragma once

#include <ATen/ATen.h>

#include "dispatch.h"
#include "reference.h"

namespace normtune_torch {

/// Reads the package's table; where there is no NVIDIA driver, nothing is tuned. Throws std::runtime_error: it cannot be read.
void open_kernels(const std::string& folder);

struct Counts {
    std::uint64_t tuned = 0;      // operations that the package's kernels did
    std::uint64_t reference = 0;  // operations that ATen's did
};
Counts counts();
/// One that is done by the reference without a look for kernels.
void count_reference();

struct Normalised {
    at::Tensor y;
    at::Tensor s;  // of fused_add_rms_norm; else undefined
    at::Tensor rstd;
};
/// `residual` undefined: rms_norm. Arguments are checked before.
Normalised forward(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, const Options& options);

/// dx and dgamma (undefined without a weight). `ds` undefined: rms_norm.
std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& dy, const at::Tensor& ds, const at::Tensor& x, const at::Tensor& weight,
                                            const at::Tensor& rstd, const Options& options);

}  // namespace normtune_torch
