#!/usr/bin/env python3
"""What best exports, as launchers use it: a C++ program that launches emitted kernels by the header, through a libcuda that computes on the CPU, and a
Triton kernel compiled by the module."""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import run_launcher  # noqa: E402

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "results/h100/llama3.json.gz"
COLS = 4096
MULTIPROCESSORS = 132

# A program takes ROWS_PER_PROGRAM rows, each in passes of BLOCK_SIZE columns.
KERNEL = """
import json, sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import best

@triton.jit
def norm(x, gamma, y, rstd, rows, cols, eps, BLOCK_SIZE: tl.constexpr, ROWS_PER_PROGRAM: tl.constexpr):
    for i in range(ROWS_PER_PROGRAM):
        row = (tl.program_id(0) * ROWS_PER_PROGRAM + i).to(tl.int64)
        if row < rows:
            squares = tl.zeros([BLOCK_SIZE], tl.float32)
            for first in range(0, cols, BLOCK_SIZE):
                at = first + tl.arange(0, BLOCK_SIZE)
                v = tl.load(x + row * cols + at, mask=at < cols, other=0.0).to(tl.float32)
                squares += v * v
            scale = tl.rsqrt(tl.sum(squares) / cols + eps)
            tl.store(rstd + row, scale)
            for first in range(0, cols, BLOCK_SIZE):
                at = first + tl.arange(0, BLOCK_SIZE)
                v = tl.load(x + row * cols + at, mask=at < cols, other=0.0).to(tl.float32)
                g = tl.load(gamma + at, mask=at < cols, other=0.0).to(tl.float32)
                tl.store(y + row * cols + at, ((v * scale).to(tl.bfloat16).to(tl.float32) * g).to(tl.bfloat16), mask=at < cols)

out = []
for rows in json.loads(sys.argv[1]):
    launch = best.best("rms_norm", "forward", "bf16", "llama", rows, COLS)
    types = dict(x="*bf16", gamma="*bf16", y="*bf16", rstd="*fp32", rows="i32", cols="i32", eps="fp32", BLOCK_SIZE="constexpr", ROWS_PER_PROGRAM="constexpr")
    source = ASTSource(fn=norm, signature=types, constexprs=dict(BLOCK_SIZE=launch.BLOCK_SIZE, ROWS_PER_PROGRAM=launch.ROWS_PER_PROGRAM))
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=launch.num_warps, num_stages=launch.num_stages))
    out.append(dict(rows=rows, num_warps=made.metadata.num_warps, elf=made.asm["cubin"][:4] == b"\\x7fELF", key=launch.key,
                    programs=launch.programs(rows, MULTIPROCESSORS)))
print(json.dumps(out))
"""


def python_with_triton():
    for place in (os.environ.get("TRITON_PYTHON"), os.environ.get("VIRTUAL_ENV", "") + "/bin/python3", str(ROOT / "build-python/bin/python3"), sys.executable):
        if place and pathlib.Path(place).is_file() and subprocess.run([place, "-W", "ignore", "-c", "import triton"], capture_output=True).returncode == 0:
            return place
    return None


def in_this(text):
    return text.replace("COLS", str(COLS)).replace("MULTIPROCESSORS", str(MULTIPROCESSORS))


def run_on_the_cpu(work, emitted, cxx):
    """The emitted kernels launched by the header, where libcuda is a driver that computes on the CPU: machine code becomes its text."""
    (work / "driver").mkdir()
    subprocess.run([cxx, "-std=c++17", "-O1", "-shared", "-fPIC", ROOT / "tests/cli/torch_package/fake_cuda.cpp", "-o", work / "driver/libcuda.so.1"], check=True)
    faults = []
    environment = dict(os.environ, LD_LIBRARY_PATH=str(work / "driver"))

    def launched():
        return subprocess.run(["./launcher", *run_launcher.run_words(emitted)], cwd=work, capture_output=True, text=True, timeout=120, env=environment)

    for folder, _ in emitted.values():
        faults += [] if (folder / "kernel.cubin").read_bytes()[:4] == b"\x7fELF" else [f"{folder} has no machine code"]
        (folder / "kernel.cubin").write_text(f"bf16 bf16 0 {COLS} {COLS} - 0")
    good = launched()
    if good.returncode != 0 or len(emitted) < 2 or good.stdout.count(" 0 of ") != len(emitted):
        faults.append(f"launches of {len(emitted)} emitted kernels: {good.returncode} {good.stdout}{good.stderr}")
    for folder, _ in emitted.values():
        (folder / "kernel.cubin").write_text(f"bf16 bf16 1 {COLS} {COLS} - 0")  # whose gamma is another
    spoilt = launched()
    if spoilt.returncode != 1 or " 0 of " in spoilt.stdout:
        faults.append(f"a wrong kernel is not told: {spoilt.returncode} {spoilt.stdout}{spoilt.stderr}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        work = folder.work
        (work / "results.json").write_bytes(gzip.decompress(RECORDED.read_bytes()))
        (work / "best.py").write_bytes(folder.run("normtune best results.json --format triton").stdout)
        arguments.normtune = pathlib.Path(arguments.normtune).resolve()
        winners = run_launcher.winners(arguments.normtune, work, COLS)
        run_launcher.compile_launcher(arguments.normtune, work, COLS, MULTIPROCESSORS, arguments.cxx)
        words = [str(word) for shape in winners for word in shape]
        said = subprocess.run(["./launcher", "say", *words], cwd=work, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
        if not winners or len(said) != len(winners):
            faults.append(f"{len(said)} launches of {len(winners)}")
        emitted = {}
        has_nvrtc = b"needs NVRTC" not in folder.run(f"normtune emit --problem rms_norm/forward/bf16/llama/1x{COLS} --arch sm_90 --out tried --config "
                                                     "w4.t128.r1.row.registers.even.per_row").stderr
        for (mode, rows), line in zip(winners, said if has_nvrtc else []):
            emitted[mode, rows] = run_launcher.emit(arguments.normtune, work, mode, rows, COLS, winners[mode, rows]["key"], "sm_90")
            launch = emitted[mode, rows][1]
            wanted = f"{launch['kernel']} {launch['grid'][0]} {launch['block'][0]}"
            faults += [] if line == wanted else [f"{mode} {rows}: the launcher says {line}, the emitted kernel {wanted}"]
        if has_nvrtc:
            faults += run_on_the_cpu(work, {rows: of for (mode, rows), of in emitted.items() if mode == "forward" and rows <= 1024}, arguments.cxx)
        else:
            print("there is no NVRTC here: the launches are not compared with those of emitted kernels, and none is launched")

        python = python_with_triton()
        if python is None:
            print("no Python here has triton: the module is not compiled with a Triton kernel")
        else:
            (work / "liger_like.py").write_text(in_this(KERNEL))
            forward = [rows for mode, rows in winners if mode == "forward"]
            made = subprocess.run([python, "-W", "ignore", "liger_like.py", json.dumps(forward)], cwd=work, capture_output=True, text=True, timeout=300,
                                  env=dict(os.environ, TRITON_CACHE_DIR=str(work / "cache"), PYTHONPATH=str(work)))
            if made.returncode != 0:
                raise SystemExit(f"the Triton launcher fails:\n{made.stderr[-2000:]}")
            for one in json.loads(made.stdout):
                winner = winners["forward", one["rows"]]
                if not one["elf"] or (one["num_warps"], one["key"]) != (winner["num_warps"], winner["key"]) or one["programs"] < 1:
                    faults.append(f"Triton: {one} for {winner['key']}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
