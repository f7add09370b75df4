#!/usr/bin/env python3
"""Measures other libraries' RMSNorm on the present CUDA device: PyTorch, torch.compile of the plain formula, Liger-Kernel.

Device time, cold: launches are captured into CUDA graphs in which each works on tensors of its own, outputs included.
Before a timed replay the graph runs once untimed where its tensors take four times the L2, else the L2 is read over;
start event, graph and end event are queued behind a sleeping kernel. Providers are
sampled in interleaved random rounds. Each result is checked against float64 first. Writes Liger-Kernel's benchmark
columns, as normtune's liger.csv has them; table.py sets both side by side.

    scripts/peers/measure.py -o peers.csv
    scripts/peers/measure.py --shapes 8192x4096,1x4096 --providers pytorch,liger -o peers.csv
"""

import argparse
import csv
import datetime
import importlib.metadata
import random
import statistics
import sys
import time

import columns

SHAPES = ("32768x128,2048x512,8192x1024,8192x4096,8192x5120,8192x8192,4096x16384,4096x32768,128x4096,1x4096")
EPS = 1e-6
ROUNDS = 12
SAMPLES_PER_ROUND = 3
SAMPLE_US = 400  # a graph is as many launches as take about this long
MOST_LAUNCHES = 256
MOST_SET_BYTES = 24 << 30  # of all tensors of one provider


class Case:
    """One op and mode on one shape: fresh inputs, the reference, and the least bytes."""

    def __init__(self, torch, op, mode, rows, cols, dtype, generator):
        self.torch, self.op, self.mode, self.rows, self.cols, self.dtype = torch, op, mode, rows, cols, dtype
        self.fused = op == "fused_add_rms_norm"
        self.generator = generator
        self.w = 1 + 0.1 * torch.randn(cols, device="cuda", generator=generator)
        self.w = self.w.to(dtype)

    def tensor(self):
        x = self.torch.randn(self.rows, self.cols, device="cuda", dtype=self.torch.float32, generator=self.generator)
        return x.to(self.dtype)

    def inputs(self):
        """Forward: x and r. Backward: the forward's inputs, dy, and ds of the fused op."""
        out = {"x": self.tensor()}
        if self.fused:
            out["r"] = self.tensor()
        if self.mode == "backward":
            out["dy"] = self.tensor()
            if self.fused:
                out["ds"] = self.tensor()
        return out

    def tensors_moved(self):
        """Large tensors read and written, at the least."""
        if self.mode == "forward":
            return 4 if self.fused else 2
        return 4 if self.fused else 3

    def least_bytes(self):
        element = self.w.element_size()
        small = self.cols * element * (2 if self.mode == "backward" else 1) + 4 * self.rows
        return self.tensors_moved() * self.rows * self.cols * element + small

    def reference(self, inputs):
        """float64, with the sum rounded as it is stored: (y, s) or (dx, dw)."""
        torch = self.torch
        s = inputs["x"]
        if self.fused:
            s = s + inputs["r"]
        wide = s.double()
        rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        n = wide * rstd
        if self.mode == "forward":
            y = n * self.w.double()
            return (y, wide) if self.fused else (y,)
        dy = inputs["dy"].double()
        m = dy * self.w.double()
        dx = rstd * (m - n * (m * n).mean(-1, keepdim=True))
        if self.fused:
            dx += inputs["ds"].double()
        return dx, (dy * n).sum(0)

    def wrong(self, got, inputs):
        """Why the outputs are not what they should be; None where they are. Loose: rounding differs between libraries."""
        for name, a, b in zip(("y", "s") if self.mode == "forward" else ("dx", "dw"), got, self.reference(inputs)):
            bound = 0.02 * b.abs().max().item()
            worst = (a.double().view_as(b) - b).abs().max().item()
            if not worst <= bound:
                return f"{name} is {worst:.3g} off where {bound:.3g} is allowed"
        return None


def plain(torch):
    def rms_norm(x, w):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)).to(x.dtype) * w

    def fused_add_rms_norm(x, r, w):
        s = x + r
        return rms_norm(s, w), s

    return rms_norm, fused_add_rms_norm


class Autograd:
    """A provider whose backward is autograd's: prepare() runs the forward, launch() the backward alone."""

    def __init__(self, case, rms_norm, fused_add_rms_norm):
        self.case, self.rms_norm, self.fused_add_rms_norm = case, rms_norm, fused_add_rms_norm

    def forward(self, inputs, w):
        if self.case.fused:
            return self.fused_add_rms_norm(inputs["x"], inputs["r"], w)
        return (self.rms_norm(inputs["x"], w),)

    def prepare(self, inputs):
        if self.case.mode == "forward":
            return inputs
        x = inputs["x"].detach().requires_grad_()
        w = self.case.w.detach().requires_grad_()
        outputs = self.forward({**inputs, "x": x}, w)
        gradients = [inputs["dy"]] + ([inputs["ds"]] if self.case.fused else [])
        return {"outputs": outputs, "wanted": (x, w), "gradients": gradients}

    def launch(self, prepared):
        torch = self.case.torch
        if self.case.mode == "forward":
            with torch.no_grad():
                return self.forward(prepared, self.case.w)
        return torch.autograd.grad(prepared["outputs"], prepared["wanted"], prepared["gradients"], retain_graph=True)


def pytorch(case):
    def norm(x, w):
        return case.torch.nn.functional.rms_norm(x, (case.cols,), w, EPS)

    def fused(x, r, w):
        s = x + r
        return norm(s, w), s

    return Autograd(case, norm, fused)


def torch_compile(case):
    torch = case.torch
    torch._dynamo.reset()
    torch._functorch.config.donated_buffer = False  # the backward runs many times over one forward
    rms_norm, fused = plain(torch)
    return Autograd(case, torch.compile(rms_norm, dynamic=False), torch.compile(fused, dynamic=False))


class Liger:
    def __init__(self, case):
        from liger_kernel.ops import fused_add_rms_norm, rms_norm

        self.case, self.plain, self.fused = case, rms_norm, fused_add_rms_norm

    def forward(self, inputs):
        w = self.case.w
        if self.case.fused:
            return self.fused.fused_add_rms_norm_forward(inputs["x"], inputs["r"], w, EPS, 0.0, "llama")
        return self.plain.rms_norm_forward(inputs["x"], w, EPS, 0.0, "llama", None)

    def prepare(self, inputs):
        if self.case.mode == "forward":
            return inputs
        return {"saved": self.forward(inputs), **inputs}

    def launch(self, prepared):
        case = self.case
        if case.mode == "forward":
            return self.forward(prepared)[: 2 if case.fused else 1]
        if case.fused:
            _, s, rstd, block, warps, stages, casting = prepared["saved"]
            out = self.fused.fused_add_rms_norm_backward(
                prepared["dy"], prepared["ds"], s, case.w, rstd, 0.0, casting, block, warps, stages, False)
            return out[0], out[-1]
        _, x, rstd, block, warps, casting = prepared["saved"]
        return self.plain.rms_norm_backward(
            prepared["dy"], x, case.w, rstd, 0.0, casting, block, warps, False, None)


class Copy:
    """Half of the least bytes read, as many written: what the others are compared with."""

    def __init__(self, case):
        self.case = case

    def prepare(self, inputs):
        torch = self.case.torch
        size = self.case.least_bytes() // 2
        return torch.randint(0, 255, (size,), dtype=torch.uint8, device="cuda")

    def launch(self, prepared):
        return (prepared.clone(),)


PROVIDERS = {"copy": Copy, "pytorch": pytorch, "torch_compile": torch_compile, "liger": Liger}


class Graph:
    """A captured graph of launches, each on tensors of its own."""

    def __init__(self, torch, case, make, stream, l2_bytes):
        self.torch, self.stream = torch, stream
        provider = make(case)
        with torch.cuda.stream(stream):
            inputs = case.inputs()
            prepared = provider.prepare(inputs)
            for _ in range(3):
                got = provider.launch(prepared)
            stream.synchronize()
            if make is not Copy and (wrong := case.wrong(got, inputs)):
                raise RuntimeError(f"incorrect: {wrong}")
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(2_000_000)
            start.record()
            provider.launch(prepared)
            end.record()
            stream.synchronize()
            once_us = max(1.0, start.elapsed_time(end) * 1000)
            element = case.w.element_size()
            set_bytes = 8 * case.rows * case.cols * element
            enough = -(-4 * l2_bytes // (case.tensors_moved() * case.rows * case.cols * element))
            launches = min(MOST_LAUNCHES, max(4, min(enough, max(4, round(SAMPLE_US / once_us)))))
            launches = max(2, min(launches, MOST_SET_BYTES // set_bytes))
            self.sets = [prepared] + [provider.prepare(case.inputs()) for _ in range(launches - 1)]
            for one in self.sets:
                provider.launch(one)  # whatever is compiled or allocated lazily is so now
            stream.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream):
                self.outputs = [provider.launch(one) for one in self.sets]  # kept: each launch has outputs of its own
        pointers = {tensor.data_ptr() for output in self.outputs for tensor in output[:1]}
        if len(pointers) != launches:
            raise RuntimeError(f"{launches} launches share {len(pointers)} outputs: they would be warm")
        self.launches = launches
        self.cold_by_itself = launches * case.tensors_moved() * case.rows * case.cols * element >= 4 * l2_bytes
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def sample_us(self, evict):
        """Steady state: the L2 is as full of lines still to be written as it is in the middle of a long run."""
        with self.torch.cuda.stream(self.stream):
            self.torch.cuda._sleep(200_000)  # about 0.1 ms: what follows is queued meanwhile
            if self.cold_by_itself:
                self.graph.replay()
            else:
                evict()
            self.start.record()
            self.graph.replay()
            self.end.record()
        self.stream.synchronize()
        return self.start.elapsed_time(self.end) * 1000 / self.launches


def measure_case(torch, case, providers, stream, scratch, l2_bytes, seed):
    """{provider: samples in us}; what cannot be measured is said and left out."""
    graphs, samples = {}, {}
    label = f"{case.op} {case.mode} {case.rows}x{case.cols}"
    for name in providers:
        try:
            graphs[name] = Graph(torch, case, PROVIDERS[name], stream, l2_bytes)
            samples[name] = []
        except Exception as error:  # a peer's failure is a finding, not an end
            print(f"{label}: {name}: left out: {type(error).__name__}: {str(error).splitlines()[0][:200]}", flush=True)
            torch.cuda.synchronize()
    for graph in graphs.values():
        graph.sample_us(scratch.sum)
    order = random.Random(seed)
    for _ in range(ROUNDS):
        names = list(graphs)
        order.shuffle(names)
        for name in names:
            samples[name] += [graphs[name].sample_us(scratch.sum) for _ in range(SAMPLES_PER_ROUND)]
    print(f"{label}: " + ", ".join(f"{name} {statistics.median(us):.2f} us" for name, us in samples.items()), flush=True)
    return samples


def version_of(provider, torch):
    return f"liger-kernel {importlib.metadata.version('liger-kernel')}" if provider == "liger" else f"torch {torch.__version__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=SHAPES, help="ROWSxCOLS,… (default: the shapes of configs/shapes/peers.yaml)")
    parser.add_argument("--ops", default="rms_norm,fused_add_rms_norm")
    parser.add_argument("--modes", default="forward,backward")
    parser.add_argument("--providers", default=",".join(PROVIDERS))
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--out", required=True, help="the CSV to write")
    arguments = parser.parse_args()
    shapes = [columns.parse_shape(word) for word in arguments.shapes.split(",")]
    providers = arguments.providers.split(",")
    if unknown := set(providers) - set(PROVIDERS):
        parser.error(f"--providers: unknown {', '.join(sorted(unknown))}; there are {', '.join(PROVIDERS)}")
    import torch

    if not torch.cuda.is_available():
        parser.error("PyTorch sees no CUDA device")
    if "liger" in providers:
        try:
            import liger_kernel  # noqa: F401
        except ImportError as error:
            print(f"liger: left out: {error}; pip install liger-kernel", flush=True)
            providers.remove("liger")
    properties = torch.cuda.get_device_properties(0)
    l2_bytes = properties.L2_cache_size
    stream = torch.cuda.Stream()
    scratch = torch.zeros(2 * l2_bytes // 4, device="cuda")
    generator = torch.Generator(device="cuda").manual_seed(arguments.seed)
    started = time.monotonic()
    rows_out = []
    for op in arguments.ops.split(","):
        for mode in arguments.modes.split(","):
            for rows, cols in shapes:
                case = Case(torch, op, mode, rows, cols, getattr(torch, arguments.dtype), generator)
                found = measure_case(torch, case, providers, stream, scratch, l2_bytes, arguments.seed)
                now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
                for name, us in found.items():
                    rows_out.append(columns.row(op, name, mode, rows, cols, arguments.dtype, EPS, us, properties.name, now,
                                                version_of(name, torch)))
                del case, found
                torch.cuda.empty_cache()
    with open(arguments.out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns.HEADER)
        writer.writerows(rows_out)
    print(f"{len(rows_out)} rows in {arguments.out}, {time.monotonic() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
