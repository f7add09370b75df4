"""The entry points that the providers call, with the arguments of quack-kernels 0.6.5. They look at the tensors, note the call and compute nothing."""

from tensors import Tensor

calls = []


def require(tensor, shape, dtype):
    assert isinstance(tensor, Tensor) and tensor.shape == shape and tensor.dtype == dtype, (tensor, shape, dtype)


def rmsnorm():
    raise AssertionError("the differentiable one is not what is timed")


def rmsnorm_fwd(x, weight=None, bias=None, residual=None, out_dtype=None, residual_dtype=None, eps=1e-6, store_rstd=False, weight_offset=0.0):
    calls.append("rmsnorm_fwd")
    rows, cols = x.shape
    require(weight, (cols,), x.dtype)
    assert bias is None and out_dtype is None and residual_dtype is None and weight_offset == 0 and eps == 1e-5
    if residual is not None:
        require(residual, x.shape, x.dtype)
    s = x if residual is None else Tensor("s", x.shape, x.dtype)
    return Tensor("y", x.shape, x.dtype), s, Tensor("rstd", (rows,), "fp32") if store_rstd else None


def rmsnorm_fwd_tuned(x, weight, out, bias=None, rstd=None, mean=None, residual=None, residual_out=None, eps=1e-6, is_layernorm=False, per_head=False,
                      weight_offset=0.0, config=None):
    calls.append("rmsnorm_fwd_tuned")
    require(weight, (x.shape[1],), x.dtype)
    require(out, x.shape, x.dtype)
    if rstd is not None:
        require(rstd, (x.shape[0],), "fp32")
        assert rstd.name == "rstd"
    assert out.name == "y" and eps == 1e-5 and config is None and mean is None and bias is None
    assert (residual is None) == (residual_out is None)
    if residual is not None:
        require(residual, x.shape, x.dtype)
        require(residual_out, x.shape, x.dtype)
        assert (residual.name, residual_out.name) == ("residual", "s")


def rmsnorm_bwd(x, weight, dout, rstd, dresidual_out=None, has_bias=False, has_residual=False, weight_offset=0.0):
    calls.append("rmsnorm_bwd")
    rows, cols = x.shape
    require(weight, (cols,), x.dtype)
    require(dout, x.shape, x.dtype)
    require(rstd, (rows,), "fp32")
    assert dout.name == "dy" and not has_bias and (dresidual_out is None or dresidual_out.name == "ds")
    return Tensor("dx", x.shape, x.dtype), Tensor("dgamma", (cols,), x.dtype), None, None


def rmsnorm_bwd_tuned(x, weight, dout, rstd, dx, dw_partial=None, db_partial=None, dresidual_out=None, dresidual=None, sm_count=None, per_head=False,
                      has_dw_partial=False, has_db_partial=False, mean=None, is_layernorm=False, weight_offset=0.0, config=None):
    calls.append("rmsnorm_bwd_tuned")
    require(dout, x.shape, x.dtype)
    require(dx, x.shape, x.dtype)
    require(rstd, (x.shape[0],), "fp32")
    require(dw_partial, (6, x.shape[1]), "fp32")
    assert dout.name == "dy" and dx.name == "dx" and has_dw_partial and not has_db_partial and db_partial is None and dresidual is None
    assert mean is None and config is None and sm_count is None and (dresidual_out is None or dresidual_out.name == "ds")
