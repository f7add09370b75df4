"""PyTorch: torch.nn.functional.rms_norm, and what it and its autograd call on a GPU, in eager mode."""

import importlib.metadata

from normtune_provider import Unsupported, torch_tools


class Norm(torch_tools.Kernel):
    provider = "pytorch"
    version = importlib.metadata.version("torch")
    rounding = {"forward": [], "backward": []}
    inference = True

    def claims(self, problem):
        if problem.fused and problem.backward:
            return "autograd rounds the norm's gradient before it adds the residual's, which no rounding contract says"
        if problem.fused and problem.residual != "rounded":
            return "its sum is rounded"
        return super().claims(problem)

    def make(self, problem, tensors):
        import torch

        if not hasattr(torch.ops.aten, "_fused_rms_norm"):
            raise Unsupported(f"PyTorch {torch.__version__} has no fused rms_norm; 2.9 and later have")
        x, gamma, cols = tensors["x"], tensors["gamma"], [problem.cols]
        if problem.backward:
            rstd = tensors["rstd"].view(-1, 1)

            def backward():
                found = torch.ops.aten._fused_rms_norm_backward(tensors["dy"], x, cols, rstd, gamma, [True, True])
                return dict(zip(("dx", "dgamma"), found))

            return backward

        def inference():
            with torch.no_grad():
                s = x + tensors["residual"] if problem.fused else x
                return {"y": torch.nn.functional.rms_norm(s, cols, gamma, problem.eps)} | ({"s": s} if problem.fused else {})

        def forward():
            s = x + tensors["residual"] if problem.fused else x
            y, rstd = torch.ops.aten._fused_rms_norm(s, cols, gamma, problem.eps)
            return {"y": y, "rstd": rstd} | ({"s": s} if problem.fused else {})

        return inference if problem.mode == "inference" else forward


def providers():
    return [Norm("rms_norm"), Norm("fused_add_rms_norm")]
