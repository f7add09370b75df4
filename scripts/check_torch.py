#!/usr/bin/env python3
"""What of a package of `normtune best --format torch` random calls do not show, on a GPU: CUDA graphs, streams at once, torch.compile, tracing.

PYTHONPATH names the package. Ends with 1 where something is wrong, or where no tuned kernel ran."""

import sys
import threading

import torch

import normtune_kernels as nt

COLS = 1024
ROWS = (800, 8192)  # the second: backwards of so many rows have memory that launches leave at 0
FAULTS = []


def expect(good, what):
    print(f"{what}: {'good' if good else 'WRONG'}")
    FAULTS.extend([] if good else [what])


def tensors(rows, **more):
    return [torch.randn(rows, COLS, device="cuda", dtype=torch.bfloat16, **more) for _ in range(2)]


def block(norm):
    def run(x, residual):
        y, s = nt.fused_add_rms_norm(norm(x), residual, norm.weight)
        return y * 2 + s
    return run


def gradients(run, norm, x, residual):
    out = run(x, residual)
    return [out.detach(), *torch.autograd.grad(out.float().square().sum(), (x, residual, norm.weight))]


def close(some, others):
    return all(torch.allclose(a.float(), b.float(), rtol=2e-2, atol=2e-2 * max(1e-6, b.float().abs().max().item())) for a, b in zip(some, others))


def graphs(norm):
    for rows in ROWS:
        graph_of(norm, rows)


def graph_of(norm, rows):
    """A forward and backward in a graph, on values that change between replays."""
    x, residual = tensors(rows, requires_grad=True)
    run = block(norm)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        gradients(run, norm, x, residual)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = gradients(run, norm, x, residual)
    for n in range(3):
        with torch.no_grad():
            x.copy_(torch.randn_like(x))
            residual.copy_(torch.randn_like(x))
        graph.replay()
        expect(close([t.clone() for t in kept], gradients(run, norm, x, residual)), f"graph of {rows} rows, replay {n}")


def streams(norm):
    """Threads with a stream each, whose backward passes are under way at once."""
    inputs = [tensors(rows, requires_grad=True) for rows in 2 * ROWS]
    wanted = [gradients(block(norm), norm, *pair) for pair in inputs]
    torch.cuda.synchronize()
    good = [True] * len(inputs)

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                found = gradients(block(norm), norm, *inputs[i])
                torch.cuda.current_stream().synchronize()
                good[i] = good[i] and close(found, wanted[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(all(good), "four streams at once")


def compiled(norm):
    run = block(norm)
    for mode in ("default", "reduce-overhead"):
        made = torch.compile(run, fullgraph=True, mode=mode)
        for rows in (64, *ROWS):
            x, residual = tensors(rows, requires_grad=True)
            wanted = gradients(run, norm, x, residual)
            for _ in range(3):
                torch.compiler.cudagraph_mark_step_begin()
                found = [t.clone() for t in gradients(made, norm, x, residual)]
            expect(close(found, wanted), f"torch.compile, {mode}, {rows} rows")


def main():
    torch.manual_seed(0)
    norm = nt.RMSNorm(COLS, device="cuda", dtype=torch.bfloat16)
    x, residual = tensors(800)
    torch.library.opcheck(torch.ops.normtune.rms_norm.default, (x, norm.weight, 1e-6, 0, 0))
    torch.library.opcheck(torch.ops.normtune.fused_add_rms_norm.default, (x, residual, norm.weight, 1e-6, 0, 0))
    for part in (graphs, streams, compiled):
        part(norm)
    print(nt.calls())
    expect(nt.calls()["tuned"] > 0, "tuned kernels ran")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
