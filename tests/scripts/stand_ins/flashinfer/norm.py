"""The entry points that the provider calls, with the arguments of flashinfer-python 0.7.2. They look at the tensors, note the call and compute nothing."""

from tensors import Tensor

calls = []


def look_at(input, weight, eps, enable_pdl):
    assert isinstance(input, Tensor) and input.name == "x" and weight.name == "gamma" and weight.shape == input.shape[1:]
    assert eps == 1e-5 and isinstance(enable_pdl, bool)  # None would mean: as the device has it


def rmsnorm(input, weight, eps=1e-6, out=None, enable_pdl=None):
    look_at(input, weight, eps, enable_pdl)
    assert out.name == "y" and out.shape == input.shape
    calls.append(("rmsnorm", enable_pdl))
    return out


def fused_add_rmsnorm(input, residual, weight, eps=1e-6, enable_pdl=None):
    look_at(input, weight, eps, enable_pdl)
    assert residual.name == "residual" and residual.shape == input.shape
    calls.append(("fused_add_rmsnorm", enable_pdl))
