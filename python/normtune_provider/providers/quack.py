"""QuACK's RMSNorm for NVIDIA GPUs from Hopper on, with the launch that its heuristic chooses. Calls are those of quack-kernels 0.6.5."""

import importlib.metadata

from normtune_provider import torch_tools


class Norm(torch_tools.Kernel):
    provider = "quack"
    version = importlib.metadata.version("quack-kernels")
    rounding = {"forward": [], "backward": []}
    inference = True

    def claims(self, problem):
        if problem.backend == "hip":
            return "its kernels are for NVIDIA GPUs"
        if problem.fused and problem.forward and problem.residual != "fp32":
            return "its sum is not rounded before it is normalised: it is for residual fp32"
        return super().claims(problem)

    def make(self, problem, tensors):
        from quack.rmsnorm import rmsnorm_bwd, rmsnorm_fwd  # `from quack import rmsnorm` is a function of that name

        x, gamma = tensors["x"], tensors["gamma"]
        if problem.backward:
            ds = tensors.get("ds")

            def backward():
                dx, dgamma, _, _ = rmsnorm_bwd(x, gamma, tensors["dy"], tensors["rstd"], dresidual_out=ds)
                return {"dx": dx, "dgamma": dgamma}

            return backward

        def forward():
            y, s, rstd = rmsnorm_fwd(x, gamma, residual=tensors.get("residual"), eps=problem.eps, store_rstd="rstd" in tensors)
            return {"y": y} | ({"rstd": rstd} if "rstd" in tensors else {}) | ({"s": s} if problem.fused else {})

        return forward


def providers():
    return [Norm("rms_norm"), Norm("fused_add_rms_norm")]
