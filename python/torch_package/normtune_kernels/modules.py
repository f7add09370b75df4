"""RMSNorm as a module, and models whose modules it takes the place of."""

import warnings

import torch

from normtune_kernels.functions import check_options, rms_norm


class RMSNorm(torch.nn.Module):
    """In the place of torch.nn.RMSNorm over the last dimension, and of Hugging Face's LlamaRMSNorm and Qwen3RMSNorm."""

    def __init__(self, normalized_shape, eps=1e-6, elementwise_affine=True, device=None, dtype=None, *, casting="llama", offset=0):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        if len(shape) != 1:
            raise ValueError(f"RMSNorm is over the last dimension alone, not over {len(shape)}: {shape}")
        check_options(casting, offset)
        self.normalized_shape = shape
        self.eps = eps
        self.casting = casting
        self.offset = offset
        if elementwise_affine:
            self.weight = torch.nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.weight is not None:
            torch.nn.init.constant_(self.weight, 1 - self.offset)

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps, casting=self.casting, offset=self.offset)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, casting={self.casting!r}, offset={self.offset}"


def _in_place_of(module):
    """An RMSNorm with the module's own weight; None where it is no RMSNorm that is known to compute the same."""
    weight = getattr(module, "weight", None)
    if type(module) is torch.nn.RMSNorm and len(module.normalized_shape) == 1:
        size, made = module.normalized_shape, dict(eps=module.eps, casting="gemma")  # which rounds once, at the end
    elif (type(module).__name__ in ("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm", "Qwen3MoeRMSNorm") and weight is not None and
          hasattr(module, "variance_epsilon")):
        size, made = tuple(weight.shape), dict(eps=module.variance_epsilon, casting="llama")
    else:
        return None
    out = RMSNorm(size, elementwise_affine=False, **made)
    out.weight = weight
    return out.train(module.training)


def _has_more(module):
    """Do hooks run with it, or was its forward wrapped (accelerate's device_map)? Neither would go on with another module."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    own = vars(module).get("forward")  # an unwrapped one may lie there, bound
    return own is not None and getattr(own, "__func__", None) is not type(module).forward or any(getattr(module, name) for name in hooks)


def replace_norms(model):
    """Puts an RMSNorm in the place of each torch.nn.RMSNorm, and of each of Llama's, Mistral's, Qwen2's and Qwen3's in Hugging Face's
    models, with its own weight: names of parameters and optimizers stay as they are. One that several places share is shared again.
    Returns how many; those with hooks or a wrapped forward stay, and a warning says so.

    What it gives is in x's dtype: where weights are wider (fp32 masters), and for torch.nn.RMSNorm under autocast, theirs is in the wider one."""
    norms, places, kept = {}, [], {}
    for path, parent in model.named_modules():
        for name, child in parent._modules.items():  # named_children() leaves out the second place of a module
            norm = norms.get(child) if child is None or child in norms else _in_place_of(child)
            if norm is not None and _has_more(child):
                kept.setdefault(child, f"{path}.{name}".lstrip("."))
            elif norm is not None:
                norms[child] = norm
                places.append((parent, name, norm))
    for parent, name, norm in places:
        setattr(parent, name, norm)
    if kept:
        warnings.warn(f"replace_norms leaves {len(kept)} of {len(kept) + len(norms)} norms as they are, which have hooks or a wrapped forward: "
                      f"{next(iter(kept.values()))}{', …' if len(kept) > 1 else ''}. Call it before what adds these", stacklevel=2)
    return len(norms)
