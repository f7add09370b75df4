"""Liger-Kernel: the functions behind its autograd functions, so that a backward is the backward alone."""

import importlib.metadata
import importlib.util
import pathlib

from normtune_provider import torch_tools


def _adds_offset_in_fp32():
    """0.8.5 does in its backward, so that dy·g is an fp32 product; earlier versions have it in x's type. Read, not imported: that takes Triton."""
    package = pathlib.Path(importlib.util.find_spec("liger_kernel").origin).parent
    return "W_row + offset.to(tl.float32)" in (package / "ops" / "rms_norm.py").read_text(encoding="utf-8")


class Norm(torch_tools.Kernel):
    provider = "liger"
    version = importlib.metadata.version("liger_kernel")
    _in_t = [] if _adds_offset_in_fp32() else ["gradient", "gain"]
    roundings = {  # docs/semantics.md
        "llama": {"forward": ["normal", "gain"], "backward": ["normal", "terms", *_in_t]},
        "gemma": {"forward": [], "backward": _in_t[1:]},
    }

    def __init__(self, op, casting):
        super().__init__(op)
        self.key = op if casting == "llama" else f"{op}.{casting}"
        self.casting = casting
        self.rounding = self.roundings[casting]

    def claims(self, problem):
        if problem.op != self.op or problem.casting != self.casting:
            return f"is for {self.op} with casting {self.casting}"
        if problem.fused and problem.forward and problem.residual != "rounded":
            return "its sum is rounded"
        return super().claims(problem)

    def make(self, problem, tensors):
        from liger_kernel.ops import fused_add_rms_norm, rms_norm
        from liger_kernel.ops.utils import calculate_settings

        x, gamma = tensors["x"], tensors["gamma"]
        casting = rms_norm._str_to_casting_mode[self.casting]
        block, warps = calculate_settings(problem.cols)
        stages = 2  # what its fused forward hands to the backward
        if problem.fused and problem.backward:

            def launch():
                found = fused_add_rms_norm.fused_add_rms_norm_backward(tensors["dy"], tensors["ds"], x, gamma, tensors["rstd"], 0.0, casting,
                                                                       block, warps, stages, False)
                return {"dx": found[0], "dgamma": found[-1]}

        elif problem.fused:

            def launch():
                found = fused_add_rms_norm.fused_add_rms_norm_forward(x, tensors["residual"], gamma, problem.eps, 0.0, self.casting)
                return dict(zip(("y", "s", "rstd"), found))

        elif problem.backward:

            def launch():
                found = rms_norm.rms_norm_backward(tensors["dy"], x, gamma, tensors["rstd"], 0.0, casting, block, warps, False, None)
                return dict(zip(("dx", "dgamma"), found))

        else:

            def launch():
                found = rms_norm.rms_norm_forward(x, gamma, problem.eps, 0.0, self.casting, None)
                return {"y": found[0], "rstd": found[2]}

        return launch


def providers():
    return [Norm(op, casting) for op in ("rms_norm", "fused_add_rms_norm") for casting in ("llama", "gemma")]
