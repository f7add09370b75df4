"""Host and device time of a call, beside torch.nn.functional.rms_norm.

    python -m normtune_kernels.bench [--shapes 1x1024,8192x1024] [--dtype bf16] [--csv FILE]

Host: microseconds until a call returns, of calls that the GPU keeps up with, the least of rounds that alternate. Device: microseconds of a
call, as `normtune sweep` measures it: the median of a CUDA graph's replays, which rotate over sets of inputs and outputs, as many sets and calls
as there, and are queued while the device is held, so that nothing of the host's is in them, behind two empty launches that undo what earlier ones
left behind (docs/cuda.md, "What was launched before"). Each is the second of two in a row, so that the L2 holds
what the call itself left there. Beside it what the winner took in that sweep, where it ran
on a GPU of this name: two GPUs of one name differ by about 1 %, so compare with a sweep of this very GPU. An empty launch, timed here as there,
is printed with each. Each shape has a process of its own: once kernels have been launched through several streams of a process, short ones of
any library take longer there, whatever is ahead of them (docs/torch.md, "How it is checked").
"""

import argparse
import csv
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch

import normtune_kernels as nt
from normtune_kernels import rotation


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


class Timer:
    """Microseconds of what is queued on the device, which is held meanwhile and begins with everything in place."""

    LONGEST = 2**30  # cycles, about half a second

    def __init__(self, settle):
        self.settle = settle  # queues what is ahead of the work
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.cycles = 2**16

    def us(self, queue, before=lambda: None):
        while True:
            torch.cuda.synchronize()
            torch.cuda._sleep(self.cycles)
            before()
            self.settle()
            self.begin.record()
            queue()
            self.end.record()
            held = not self.begin.query()
            self.end.synchronize()
            if held:
                return self.begin.elapsed_time(self.end) * 1000
            if self.cycles >= self.LONGEST:
                raise SystemExit("bench: the device begins before its work is queued (CUDA_LAUNCH_BLOCKING?), so nothing can be timed")
            self.cycles *= 2


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class EmptyKernel:
    """Launches a kernel that does nothing, by the driver: what any launch takes."""

    PTX = b".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n"
    BEGINS_EARLY = LaunchAttribute(6, 0, (1,))  # programmatic stream serialization: while the launch ahead runs

    def __init__(self):
        self.cuda, self.function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        module = ctypes.c_void_p()
        torch.cuda.current_stream().synchronize()  # makes the device's context the current one
        if self.cuda.cuModuleLoadData(ctypes.byref(module), self.PTX) or self.cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"nothing"):
            raise SystemExit("bench: the driver refuses an empty kernel")
        self.can_begin_early = torch.cuda.get_device_capability() >= (9, 0)

    def __call__(self, begins_early=False):
        config = LaunchConfig((1, 1, 1), (32, 1, 1), 0, torch.cuda.current_stream().cuda_stream, ctypes.pointer(self.BEGINS_EARLY), int(begins_early))
        if self.cuda.cuLaunchKernelEx(ctypes.byref(config), self.function, None, None):
            raise SystemExit("bench: the driver refuses to launch an empty kernel")

    def settle(self):
        """As a sweep does ahead of each sample, so that launches take the same whatever this process has launched before."""
        if self.can_begin_early:
            self()
            self(begins_early=True)


class Rotation:
    """Graphs of calls over sets of inputs; each set's outputs have a place of their own, too."""

    def __init__(self, timer, call, inputs, calls, before):
        self.timer, self.before, self.samples = timer, before, 0
        outputs = [None] * len(inputs)
        pool = torch.cuda.graph_pool_handle()
        self.graphs = []
        for first, count in rotation.windows(len(inputs), calls):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                for i in range(first, first + count):
                    at = i % len(inputs)
                    outputs[at] = None  # first, so that the call gets the same memory again
                    outputs[at] = call(*inputs[at])
            graph.replay()  # a first one is slower than all others
            self.graphs.append((graph, count))
        self.outputs = outputs

    def us(self):
        """Of a sample behind another one of this call."""
        self.sample_us()
        return self.sample_us()

    def sample_us(self):
        graph, count = self.graphs[self.samples % len(self.graphs)]
        self.samples += 1
        return self.timer.us(graph.replay, self.before) / count


def inputs_of(mode, rows, cols, dtype, count):
    """x; or x, dy and the scales of x's rows."""
    for _ in range(count):
        x = torch.randn(rows, cols, device="cuda", dtype=dtype)
        scales = torch.rsqrt(x.float().square().mean(-1) + 1e-6)
        yield (x,) if mode == "forward" else (x, torch.randn_like(x), scales)


def attributes(*numbers):
    """Of the current device, by CUDA's numbers for them; 0: not told. From the driver, as the sweep has them."""
    cuda = ctypes.CDLL("libcuda.so.1")
    at, found = ctypes.c_int(), []
    cuda.cuDeviceGet(ctypes.byref(at), torch.cuda.current_device())
    for number in numbers:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), number, at)
        found.append(value.value)
    return found


def device(mode, pair, nothing, rows, cols, dtype, samples=30):
    """The medians of microseconds of both calls of `pair` and of `nothing`, an empty launch, sampled in turn."""
    clock_khz, bus_bits, cache_bytes = attributes(36, 37, 38)  # of the memory; bytes of the L2
    element = torch.finfo(dtype).bits // 8
    of_one = rotation.set_bytes(mode, rows, cols, element)
    count = rotation.sets(of_one, cache_bytes, torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory)
    inputs = list(inputs_of(mode, rows, cols, dtype, count))
    rate = 2 * clock_khz / 1e3 * bus_bits / 8 or 1e6
    other = torch.zeros(2 * cache_bytes // 4, device="cuda")
    timer = Timer(nothing.settle)
    rotations, numbers = [], []
    for call in pair:
        for one in inputs[:3]:
            call(*one)
        first_us = min(timer.us(lambda: call(*inputs[i % count])) for i in range(3))
        numbers.append(rotation.calls(mode, rows, cols, element, rate, first_us))
        cold = rotation.stays_cold(of_one, count, numbers[-1], cache_bytes)
        rotations.append(Rotation(timer, call, inputs, numbers[-1], (lambda: None) if cold else other.sum))
    rotations.append(Rotation(timer, nothing, [()], numbers[0], lambda: None))
    times = [[one.us() for one in rotations] for _ in range(samples)]
    return [statistics.median(of) for of in zip(*times)]


def recorded(mode, dtype, rows, cols, name):
    """What the table has for this very shape, measured on a GPU of this name, and for an empty launch beside it; or None."""
    entry, here = "", False
    for line in (pathlib.Path(nt.__file__).parent / "kernels.txt").read_text().splitlines():
        words = line.split()
        if words[0] == "device":
            here = words[3:] == name.split()
        elif words[0] == "entry":
            entry = words[1:]
        elif here and words[0] == "step" and entry == ["rms_norm", mode, dtype, dtype, "llama", "1", "0", str(cols), str(cols)] and words[-4] == str(rows):
            return float(words[-3]), float(words[-2])
    return None


def shapes(text):
    found = [tuple(map(int, shape.split("x"))) for shape in text.split(",")]
    if any(len(shape) != 2 or min(shape) < 1 for shape in found):
        raise ValueError
    return found


COLUMNS = ("rows", "cols", "dtype", "mode", "device_us", "pytorch_us", "empty_us", "sweep_us", "sweep_empty_us")


def print_shape(rows, cols, dtype_name):
    """Prints its times; returns those of the device, a row of COLUMNS a mode."""
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[dtype_name]
    torch_norm, nothing = torch.nn.functional.rms_norm, EmptyKernel()
    shape = f"{rows}x{cols}"
    weight = torch.ones(cols, device="cuda", dtype=dtype)
    x = torch.randn(min(rows, 64), cols, device="cuda", dtype=dtype)
    learnt, wanted = weight.clone().requires_grad_(), x.clone().requires_grad_()
    ours, theirs, ours_grad, theirs_grad = host([
        lambda: nt.rms_norm(x, weight, 1e-6), lambda: torch_norm(x, (cols,), weight, 1e-6),
        lambda: nt.rms_norm(wanted, learnt, 1e-6), lambda: torch_norm(wanted, (cols,), learnt, 1e-6)])
    print(f"{shape} host: {ours:.2f} µs, F.rms_norm {theirs:.2f} µs; with gradients wanted {ours_grad:.2f} µs, F.rms_norm {theirs_grad:.2f} µs")
    calls = {"forward": (lambda x: torch.ops.normtune.rms_norm(x, weight, 1e-6, 0, 0), lambda x: torch_norm(x, (cols,), weight, 1e-6)),
             "backward": (lambda x, dy, scales: torch.ops.normtune.rms_norm_backward(dy, None, x, weight, scales, 1e-6, 0, 0),
                          lambda x, dy, scales: torch.ops.aten._fused_rms_norm_backward(dy, x, (cols,), scales[:, None], weight, [True, True]))}
    found = []
    for mode, pair in calls.items():
        mine, theirs, empty = device(mode, pair, nothing, rows, cols, dtype)
        print(f"{shape} {mode}: device {mine:.2f} µs, PyTorch {theirs:.2f} µs, an empty launch {empty:.2f} µs", end="")
        in_sweep = recorded(mode, dtype_name, rows, cols, torch.cuda.get_device_name())
        found.append((rows, cols, dtype_name, mode, *(f"{us:.4f}" for us in (mine, theirs, empty)), *(in_sweep or ("", ""))))
        if in_sweep:
            sweep, empty_there = in_sweep
            print(f"; in the sweep {sweep:.2f} µs ({100 * (mine / sweep - 1):+.1f} %), an empty launch {empty_there:.2f} µs", end="")
        print(flush=True)
    return found


def of_another_process(rows, cols, dtype_name):
    """The same, by a process that has launched nothing before."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "times.csv"
        words = ["-m", "normtune_kernels.bench", "--shapes", f"{rows}x{cols}", "--dtype", dtype_name, "--csv", str(table)]
        done = subprocess.run([sys.executable, *(f"-W{option}" for option in sys.warnoptions), *words], check=False)
        if done.returncode != 0:
            raise SystemExit(done.returncode)
        with table.open(newline="") as lines:
            return list(csv.reader(lines))[1:]


def main():
    parser = argparse.ArgumentParser(prog="python -m normtune_kernels.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", type=shapes, default="1x1024,8192x1024", metavar="MxN,…")
    parser.add_argument("--dtype", choices=["bf16", "fp16", "fp32"], default="bf16")
    parser.add_argument("--csv", metavar="FILE", help="the device's times there, too")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("bench: this times a GPU, and PyTorch has none here")
    times_of = print_shape if len(arguments.shapes) == 1 else of_another_process
    found = [row for rows, cols in arguments.shapes for row in times_of(rows, cols, arguments.dtype)]
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as table:
            csv.writer(table, lineterminator="\n").writerows([COLUMNS, *found])


if __name__ == "__main__":
    main()
