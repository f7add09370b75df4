"""Host and device time of a call, beside torch.nn.functional.rms_norm.

    python -m normtune_kernels.bench [--shapes 1x1024,8192x1024] [--dtype bf16]

Host: microseconds until a call returns, of calls that the GPU keeps up with, the least of rounds that alternate. Device: microseconds of the
kernels in a CUDA graph over inputs that change, cold as far as they exceed the last-level cache; beside it what the table says that the
winner took when it was measured.
"""

import argparse
import pathlib
import time

import torch

import normtune_kernels as nt


def host(calls, count=200, rounds=30):
    """The least of the rounds' microseconds a call, of each."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(count):
                call()
            least[i] = min(least[i], (time.perf_counter() - begin) / count * 1e6)
    return least


def device(call, sets, rounds=15):
    """The median of microseconds a call, of a graph that goes through all sets of inputs."""
    for inputs in sets[:3]:
        call(*inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [call(*inputs) for inputs in sets]
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / len(sets))
    del kept
    return sorted(times)[len(times) // 2]


def recorded(mode, dtype, rows, cols):
    """The p50 of the table for this very shape, or None."""
    entry = ""
    for line in (pathlib.Path(nt.__file__).parent / "kernels.txt").read_text().splitlines():
        words = line.split()
        if words[0] == "entry":
            entry = words[1:]
        elif words[0] == "step" and entry == ["rms_norm", mode, dtype, dtype, "llama", "1", "0", str(cols), str(cols)] and words[-3] == str(rows):
            return float(words[-2])
    return None


def main():
    parser = argparse.ArgumentParser(prog="python -m normtune_kernels.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="1x1024,8192x1024")
    parser.add_argument("--dtype", choices=["bf16", "fp16", "fp32"], default="bf16")
    arguments = parser.parse_args()
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[arguments.dtype]
    torch_norm = torch.nn.functional.rms_norm
    for shape in arguments.shapes.split(","):
        rows, cols = map(int, shape.split("x"))
        weight = torch.ones(cols, device="cuda", dtype=dtype)
        x = torch.randn(min(rows, 64), cols, device="cuda", dtype=dtype)
        learnt, wanted = weight.clone().requires_grad_(), x.clone().requires_grad_()
        ours, theirs, ours_grad, theirs_grad = host([
            lambda: nt.rms_norm(x, weight, 1e-6), lambda: torch_norm(x, (cols,), weight, 1e-6),
            lambda: nt.rms_norm(wanted, learnt, 1e-6), lambda: torch_norm(wanted, (cols,), learnt, 1e-6)])
        print(f"{shape} host: {ours:.2f} µs, F.rms_norm {theirs:.2f} µs; with gradients wanted {ours_grad:.2f} µs, F.rms_norm {theirs_grad:.2f} µs")
        count = max(20, min(1000, 400 * 2**20 // (3 * x.element_size() * rows * cols)))
        sets = [(torch.randn(rows, cols, device="cuda", dtype=dtype), torch.randn(rows, cols, device="cuda", dtype=dtype)) for _ in range(count)]
        scales = torch.rsqrt(sets[0][0].float().square().mean(-1) + 1e-6)
        calls = {"forward": (lambda x, dy: nt.rms_norm(x, weight, 1e-6), lambda x, dy: torch_norm(x, (cols,), weight, 1e-6)),
                 "backward": (lambda x, dy: torch.ops.normtune.rms_norm_backward(dy, None, x, weight, scales, 1e-6, 0, 0),
                              lambda x, dy: torch.ops.aten._fused_rms_norm_backward(dy, x, (cols,), scales[:, None], weight, [True, True]))}
        for mode, (our, their) in calls.items():
            mine = device(our, sets)
            sweep = recorded(mode, arguments.dtype, rows, cols)
            print(f"{shape} {mode}: device {mine:.2f} µs, PyTorch {device(their, sets):.2f} µs" + (f", in the sweep {sweep:.2f} µs" if sweep else ""))


if __name__ == "__main__":
    main()
