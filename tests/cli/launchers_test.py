#!/usr/bin/env python3
"""What best exports, as launchers use it: a C++ program that launches emitted kernels by the header, and a Triton kernel compiled by the module."""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys

import harness

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "results/h100/llama3.json.gz"
COLS = 4096
MODES = {"forward": "nt_forward", "backward": "nt_backward"}
MULTIPROCESSORS = 132

# A dispatcher from shapes to launches: all that it knows of a configuration comes from the header. The driver behind it writes calls down.
PROGRAM = r"""
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include "best.h"

struct FakeDriver {
    void launch(const char* kernel, long long programs, int threads) { std::printf("%s %lld %d\n", kernel, programs, threads); }
};

long long programs(const normtune_best::Launch& l, long long rows, int multiprocessors) {
    using normtune_best::Grid;
    const long long tiles = (rows + l.rows_per_program - 1) / l.rows_per_program;
    const long long most = static_cast<long long>(l.programs_per_sm) * std::max(1, multiprocessors - l.unit_margin);
    switch (l.grid) {
        case Grid::per_row: return rows;
        case Grid::packed: return tiles;
        case Grid::persistent_strided: return std::min(tiles, most);
        case Grid::persistent_balanced: {
            const long long taken = std::min(tiles, most);
            const long long each = (tiles + taken - 1) / taken;
            return (tiles + each - 1) / each;
        }
        case Grid::persistent_contiguous: break;
    }
    const long long taken = std::min(tiles, most);
    const long long share = ((rows + taken - 1) / taken + l.rows_per_program - 1) / l.rows_per_program * l.rows_per_program;
    return (rows + share - 1) / share;
}

int main(int argc, char** argv) {
    using namespace normtune_best;
    FakeDriver driver;
    for (int i = 1; i + 1 < argc; i += 2) {
        const long long rows = std::atoll(argv[i + 1]);
        const bool backward = argv[i][0] == 'b';
        const auto choice = best(Op::rms_norm, backward ? Mode::backward : Mode::forward, Dtype::bf16, Casting::llama, rows, COLS);
        if (!choice || !choice->exact) return 1;
        const normtune_best::Launch& l = choice->launch;
        const bool beside = backward && l.dgamma == Dgamma::beside; // then further programs sum gamma's gradient, reduce_cols columns each
        driver.launch(backward ? "nt_backward" : "nt_forward",
                      programs(l, rows, MULTIPROCESSORS) + (beside ? (COLS + l.reduce_cols - 1) / l.reduce_cols : 0), l.num_warps * 32);
    }
}
"""

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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        work = folder.work
        (work / "results.json").write_bytes(gzip.decompress(RECORDED.read_bytes()))
        for form, name in (("cpp", "best.h"), ("triton", "best.py")):
            (work / name).write_bytes(folder.run(f"normtune best results.json --format {form}").stdout)
        winners = {(w["problem"]["mode"], w["problem"]["rows"]): w["configuration"]
                   for w in json.loads(folder.run("normtune best results.json --format json").stdout)["runs"][0]["winners"]
                   if w["problem"]["key"].startswith("rms_norm/") and w["problem"]["cols"] == w["problem"]["row_stride"] == COLS and w["problem"]["mode"] in MODES}

        (work / "launcher.cpp").write_text(in_this(PROGRAM))
        made = subprocess.run([arguments.cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", "launcher", "launcher.cpp"], cwd=work, capture_output=True, text=True)
        if made.returncode != 0:
            raise SystemExit(f"the launcher does not compile:\n{made.stderr}")
        words = [str(word) for shape in winners for word in shape]
        launched = subprocess.run(["./launcher", *words], cwd=work, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
        if not winners or len(launched) != len(winners):
            faults.append(f"{len(launched)} launches of {len(winners)}")
        for i, ((mode, rows), line) in enumerate(zip(winners, launched)):
            emitted = folder.run(f"normtune emit --problem rms_norm/{mode}/bf16/llama/{rows}x{COLS} --config {winners[mode, rows]['key']} --arch sm_90 --out emitted-{i}")
            if b"needs NVRTC" in emitted.stderr:
                print("there is no NVRTC here: the launches are not compared with those of emitted kernels")
                break
            launches = json.loads((work / f"emitted-{i}/launch.json").read_text())["launches"]
            main_launch = next(launch for launch in launches if launch["kernel"] == MODES[mode])
            wanted = f"{main_launch['kernel']} {main_launch['grid'][0]} {main_launch['block'][0]}"
            faults += [] if line == wanted else [f"{mode} {rows}: the launcher says {line}, the emitted kernel {wanted}"]

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
