"""FlashInfer's RMSNorm for NVIDIA GPUs, each kernel with and without programmatic dependent launch. Calls are those of flashinfer-python 0.7.2."""

import importlib.metadata

from normtune_provider import Unsupported, torch_tools


class Norm(torch_tools.Kernel):
    provider = "flashinfer"
    version = importlib.metadata.version("flashinfer-python")
    rounding = {"forward": [], "backward": []}
    inference = True

    def __init__(self, op, dependent_launch):
        super().__init__(op)
        self.key = f"{op}.pdl" if dependent_launch else op
        self.dependent_launch = dependent_launch
        self.in_place = op == "fused_add_rms_norm"

    def claims(self, problem):
        if problem.backend == "hip":
            return "its kernels are for NVIDIA GPUs"
        if problem.op == self.op and problem.mode != "inference":
            return "stores no rstd: it is for mode inference"
        if problem.dtype == "fp32":
            return "is for bf16 and fp16"
        if problem.fused and problem.residual != "fp32":
            return "its sum is not rounded before it is normalised: it is for residual fp32"
        return super().claims(problem)

    def make(self, problem, tensors):
        import torch
        from flashinfer import norm

        x, gamma = tensors["x"], tensors["gamma"]
        if self.dependent_launch and torch.cuda.get_device_capability(x.device) < (9, 0):
            raise Unsupported("programmatic dependent launch takes sm_90 or newer")

        def launch():
            if problem.fused:
                norm.fused_add_rmsnorm(x, tensors["residual"], gamma, problem.eps, enable_pdl=self.dependent_launch)
            else:
                norm.rmsnorm(x, gamma, problem.eps, out=tensors["y"], enable_pdl=self.dependent_launch)

        return launch


def providers():
    return [Norm(op, dependent_launch) for op in ("rms_norm", "fused_add_rms_norm") for dependent_launch in (False, True)]
