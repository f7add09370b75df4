"""FlashInfer's RMSNorm for NVIDIA GPUs, each kernel with and without programmatic dependent launch. Calls are those of flashinfer-python 0.7.2.

It has two of each: in CuTe DSL, which it takes where nvidia-cutlass-dsl is installed, and in CUDA, which it takes else or where
FLASHINFER_USE_CUDA_NORM is 1. The version tells which."""

import importlib.metadata
import os

from normtune_provider import Unsupported, torch_tools


def takes_cuda():
    if os.environ.get("FLASHINFER_USE_CUDA_NORM", "0") == "1":
        return True
    try:
        importlib.metadata.version("nvidia-cutlass-dsl")
    except importlib.metadata.PackageNotFoundError:
        return True
    return False


def version():
    own = importlib.metadata.version("flashinfer-python")
    return f"{own}+cuda" if takes_cuda() else f"{own}+cute_dsl{importlib.metadata.version('nvidia-cutlass-dsl')}"


class Norm(torch_tools.Kernel):
    provider = "flashinfer"
    version = version()
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
        if getattr(norm, "_USE_CUDA_NORM", takes_cuda()) != takes_cuda():  # where CuTe DSL cannot be imported
            raise Unsupported(f"FlashInfer has loaded others than the kernels of {self.version}; see why `from flashinfer.norm import kernels` fails")

        def launch():
            if problem.fused:
                norm.fused_add_rmsnorm(x, tensors["residual"], gamma, problem.eps, enable_pdl=self.dependent_launch)
            else:
                norm.rmsnorm(x, gamma, problem.eps, out=tensors["y"], enable_pdl=self.dependent_launch)

        return launch


def providers():
    return [Norm(op, dependent_launch) for op in ("rms_norm", "fused_add_rms_norm") for dependent_launch in (False, True)]
