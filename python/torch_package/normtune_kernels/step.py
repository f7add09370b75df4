"""A training step of a Hugging Face model, made here with random weights, before and after replace_norms.

    python -m normtune_kernels.step [--model qwen3|llama] [--tokens 4096] [--layers 28] [--steps 10]

First a model of two layers: losses and gradients of its own norms, of torch.nn.RMSNorm and of this package, each against the same model in
float64. Then a step of a model of Qwen3-0.6B's (or Llama-3.2-1B's) sizes: times, and what a profile says that norms took.
"""

import argparse
import copy
import statistics
import sys

import torch

import normtune_kernels as nt

SIZES = {
    "qwen3": dict(hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8, head_dim=128, vocab_size=151936),
    "llama": dict(hidden_size=2048, intermediate_size=8192, num_attention_heads=32, num_key_value_heads=8, head_dim=64, vocab_size=128256),
}
NORMS = ("nt_", "layer_norm", "LayerNorm", "rms_norm", "RMSNorm", "GammaBeta")  # in kernels' names


def make(kind, layers, **sizes):
    import transformers
    config_of, model_of = {"qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
                           "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM)}[kind]
    torch.manual_seed(0)
    model = model_of(config_of(num_hidden_layers=layers, use_cache=False, attn_implementation="sdpa", **{**SIZES[kind], **sizes}))
    for name, parameter in model.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(parameter, 1.0, 0.1)  # a weight of 1 would hide where values are rounded
    return model


def with_torch_norms(model):
    """torch.nn.RMSNorm in the place of the model's own."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child).__name__.endswith("RMSNorm") and hasattr(child, "variance_epsilon"):
                norm = torch.nn.RMSNorm(child.weight.numel(), eps=child.variance_epsilon, elementwise_affine=False)
                norm.weight = child.weight
                setattr(parent, name, norm)
    return model


def with_tuned_norms(model):
    nt.replace_norms(model)
    return model


VARIANTS = {"the model's own": lambda model: model, "torch.nn.RMSNorm": with_torch_norms, "normtune_kernels": with_tuned_norms}


def gradients(model, ids):
    model.zero_grad(set_to_none=True)
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    return loss.item(), torch.cat([p.grad.double().flatten().cpu() for p in model.parameters()])


def compare(kind, device):
    """Losses and gradients of a small model; True where the package's are as near to float64's as the model's own."""
    own = make(kind, 2, vocab_size=512)
    ids = torch.randint(0, 512, (2, 256), device=device)
    exact_loss, exact = gradients(copy.deepcopy(own).double().to(device), ids)
    good = True
    for dtype in (torch.float32, torch.bfloat16):
        far = {}
        for name, variant in VARIANTS.items():
            loss, gradient = gradients(variant(copy.deepcopy(own).to(device, dtype)), ids)
            far[name] = (abs(loss - exact_loss) / abs(exact_loss), float((gradient - exact).norm() / exact.norm()))
            print(f"{dtype}, {name}: loss {loss:.6f} (float64 {exact_loss:.6f}), gradients off by {far[name][1]:.3e} of their norm")
        own_far, our_far = far["the model's own"], far["normtune_kernels"]
        epsilon = torch.finfo(dtype).eps
        good = good and our_far[0] <= own_far[0] + epsilon and our_far[1] <= 1.25 * own_far[1] + 4 * epsilon
    print(nt.calls())
    print("Losses and gradients are as near to float64's as the model's own." if good else "Losses or gradients are OFF.")
    return good


def profile(step):
    """Device milliseconds of a step, and of its norms' kernels, by the profiler."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]) as profiler:
        step()
        torch.cuda.synchronize()
    kernels = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    whole = sum(event.self_device_time_total for event in kernels)
    norms = sum(event.self_device_time_total for event in kernels if any(name in event.name for name in NORMS))
    return whole / 1000, norms / 1000


def timed(kind, layers, tokens, steps):
    length = min(tokens, 2048)
    ids = torch.randint(0, 1000, (tokens // length, length), device="cuda")
    base = make(kind, layers)
    print(f"\n{kind}, {layers} layers, {sum(p.numel() for p in base.parameters()) / 1e6:.0f} M parameters, {tokens} tokens a step, bfloat16")
    norm_times, first = {}, None
    for name, variant in VARIANTS.items():
        model = variant(copy.deepcopy(base)).to("cuda", torch.bfloat16)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

        def step():
            optimizer.zero_grad(set_to_none=True)
            model(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()

        for _ in range(3):
            step()
        times = []
        for _ in range(steps):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            step()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        whole, norms = profile(step)
        norm_times[name] = norms
        first = first or whole
        of_norms = f", norms' kernels {norms:.2f} ms" if norms > 0 else ", norms' kernels are not told by their names"
        print(f"{name}: step {statistics.median(times):.2f} ms, device {whole:.2f} ms ({first - whole:.2f} less){of_norms}")
        del model, optimizer
        torch.cuda.empty_cache()
    before, after = norm_times["torch.nn.RMSNorm"], norm_times["normtune_kernels"]
    print(f"Norms took {before:.2f} ms by torch.nn.RMSNorm and {after:.2f} ms by normtune_kernels: {100 * (1 - after / before):.0f} % less. {nt.calls()}")


def main():
    parser = argparse.ArgumentParser(prog="python -m normtune_kernels.step", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=SIZES, default="qwen3")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--steps", type=int, default=10)
    arguments = parser.parse_args()
    try:
        import transformers  # noqa: F401
    except ImportError:
        sys.exit("this needs Hugging Face's transformers: pip install transformers")
    cuda = torch.cuda.is_available()
    good = compare(arguments.model, "cuda" if cuda else "cpu")
    if cuda:
        timed(arguments.model, arguments.layers, arguments.tokens, arguments.steps)
    else:
        print("No GPU is here, so nothing is timed.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
