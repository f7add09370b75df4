"""RMSNorm as a module, and models whose modules it takes the place of."""

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
        made = dict(eps=module.eps, casting="gemma")  # which rounds once, at the end
    elif type(module).__name__ in ("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm", "Qwen3MoeRMSNorm"):
        made = dict(eps=module.variance_epsilon, casting="llama")
    else:
        return None
    size = module.normalized_shape if weight is None else tuple(weight.shape)
    out = RMSNorm(size, elementwise_affine=False, **made)
    out.weight = weight
    return out.train(module.training)


def replace_norms(model):
    """Puts an RMSNorm in the place of each torch.nn.RMSNorm, and of each of Llama's, Mistral's, Qwen2's and Qwen3's in Hugging Face's
    models, with its own weight: names of parameters and optimizers stay as they are. Returns how many.

    What it gives is in x's dtype: where weights are wider (fp32 masters), and for torch.nn.RMSNorm under autocast, theirs is in the wider one."""
    count = 0
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            norm = _in_place_of(child)
            if norm is not None:
                setattr(parent, name, norm)
                count += 1
    return count
