"""torch.compile, shapes static, over the formula in fp32 that rounds once at its end; forward and backward are each compiled by themselves."""

import importlib.metadata

from normtune_provider import torch_tools


def _forward(x, gamma, eps):
    import torch

    wide = x.float()
    rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (wide * rstd * gamma.float()).to(x.dtype), rstd.squeeze(-1)  # as a column it makes the compiler choose a slow kernel


def _inference(x, gamma, eps):
    return (_forward(x, gamma, eps)[0],)


def _fused_inference(x, residual, gamma, eps):
    y, _, s = _fused_forward(x, residual, gamma, eps)
    return y, s


def _fused_forward(x, residual, gamma, eps):
    s = x + residual
    y, rstd = _forward(s.to(x.dtype), gamma, eps)
    return y, rstd, s


def _backward(dy, x, gamma, rstd, ds=None):
    wide, dy = x.float(), dy.float()
    m = dy * gamma.float()
    dx = rstd * m - rstd.pow(3) * (m * wide).mean(-1, keepdim=True) * wide
    dx = dx if ds is None else dx + ds.float()
    return dx.to(x.dtype), (dy * wide * rstd).sum(0).to(gamma.dtype)


class Norm(torch_tools.Kernel):
    provider = "torch_compile"
    version = importlib.metadata.version("torch")
    rounding = {"forward": [], "backward": []}
    inference = True
    compiled = None

    def claims(self, problem):
        if problem.fused and problem.forward and problem.residual != "rounded":
            return "the sum that it normalises is rounded: it is for residual rounded"
        return super().claims(problem)

    def make(self, problem, tensors):
        import torch

        if self.compiled is None:
            # Each shape is a compilation of its own; beyond the usual limit it would silently run uncompiled.
            torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 100_000
            functions = {"backward": _backward, "forward": _fused_forward if problem.fused else _forward,
                         "inference": _fused_inference if problem.fused else _inference}
            # Without it short rows were normalised unrounded, and long ones were not (docs/providers.md).
            options = {"emulate_precision_casts": True}
            self.compiled = {mode: torch.compile(function, dynamic=False, fullgraph=True, options=options) for mode, function in functions.items()}
        compiled = self.compiled[problem.mode]
        if problem.backward:
            of = (tensors["dy"], tensors["x"], tensors["gamma"], tensors["rstd"].view(-1, 1)) + ((tensors["ds"],) if problem.fused else ())
            names = ("dx", "dgamma")
        else:
            of = (tensors["x"],) + ((tensors["residual"],) if problem.fused else ()) + (tensors["gamma"], problem.eps)
            names = ("y", "s") if problem.mode == "inference" else ("y", "rstd", "s")

        def launch():
            with torch.no_grad():
                return dict(zip(names, compiled(*of)))

        return launch


def providers():
    return [Norm("rms_norm"), Norm("fused_add_rms_norm")]
