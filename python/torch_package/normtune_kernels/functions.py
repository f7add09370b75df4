"""The operations as functions."""

import pathlib

import torch

from normtune_kernels.extension import load

CASTINGS = {"llama": 0, "gemma": 1, "none": 2}

_C = load()
_C.open(str(pathlib.Path(__file__).parent))


def check_options(casting, offset):
    if casting not in CASTINGS:
        raise ValueError(f"casting is one of {', '.join(CASTINGS)}, not {casting!r}")
    if offset not in (0, 1):
        raise ValueError(f"offset is 0 or 1, not {offset!r}")


def _options(x, eps, casting, offset):
    if eps is None:
        eps = torch.finfo(torch.float64 if x.dtype == torch.float64 else torch.float32).eps
    check_options(casting, offset)
    return float(eps), CASTINGS[casting], int(offset)


def rms_norm(x, weight=None, eps=1e-6, *, casting="llama", offset=0):
    """x / sqrt(mean(x², -1) + eps) * (offset + weight), in x's dtype.

    casting says where 16-bit values are rounded: "llama" (Hugging Face's LlamaRMSNorm: before the weight), "gemma" (at the end),
    "none" (after each operation). eps None is the machine epsilon of the type that it computes in, fp32 of 16-bit tensors too, as in
    torch.nn.functional.rms_norm from PyTorch 2.7 on (2.6 has that of x's type).
    """
    if eps.__class__ is not float or casting != "llama" or offset:
        eps, number, offset = _options(x, eps, casting, offset)
    else:
        number = 0
    if not torch.compiler.is_dynamo_compiling():
        y = _C.rms_norm(x, weight, eps, number, offset)
        if y is not NotImplemented:
            return y
    return torch.ops.normtune.rms_norm(x, weight, eps, number, offset)[0]


def fused_add_rms_norm(x, residual, weight=None, eps=1e-6, *, casting="llama", offset=0):
    """(rms_norm(s), s) with s = x + residual, rounded to x's dtype; x and residual have one shape and dtype."""
    eps, number, offset = _options(x, eps, casting, offset)
    if not torch.compiler.is_dynamo_compiling():
        both = _C.fused_add_rms_norm(x, residual, weight, eps, number, offset)
        if both is not NotImplemented:
            return both
    return torch.ops.normtune.fused_add_rms_norm(x, residual, weight, eps, number, offset)[:2]


def calls():
    """How many operations, backward ones too, were done by "tuned" kernels, and how many by the "reference"."""
    return dict(zip(("tuned", "reference"), _C.counts()))
