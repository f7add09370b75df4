// The operations in ATen's own: for what was not tuned, on any device and in any floating type, and differentiable.
#pragma once

#include <ATen/ATen.h>

#include <tuple>

namespace normtune_torch {

struct Options {
    double eps = 0;
    std::int64_t casting = 0;  // Casting
    std::int64_t offset = 0;
};

/// y and rstd of the rows of x. `weight` undefined: there is none.
std::tuple<at::Tensor, at::Tensor> reference_forward(const at::Tensor& x, const at::Tensor& weight, const Options& options);

/// dx and dgamma (undefined without a weight). `ds` undefined: there is none. `rstd` undefined: it is found anew, differentiably.
std::tuple<at::Tensor, at::Tensor> reference_backward(const at::Tensor& dy, const at::Tensor& ds, const at::Tensor& x,
                                                      const at::Tensor& weight, const at::Tensor& rstd, const Options& options);

}  // namespace normtune_torch
