#!/usr/bin/env python3
"""scripts/triton_candidates: the examples compile without a GPU, their folders keep to the schema, and plans take them."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPE = "4096x1000"  # no power of two
# kernel, mode, configurations in all
KERNELS = [("where.py:row", "forward", 6), ("block_rows.py:block_rows", "forward", 12), ("serial_rows.py:serial_backward", "backward", 8),
           ("rows_binding.py:rows_constexpr", "backward", 3)]
AUTOTUNED = """
import triton, triton.language as tl
def no_wider(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] < 2 * named_args["cols"]]
@triton.autotune(configs=[triton.Config({"BLOCK": b, "TWICE": False}, num_warps=4) for b in (1024, 2048, 4096)], key=["cols"],
                 prune_configs_by={"early_config_prune": no_wider})
@triton.jit
def copy(x, y, cols, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < cols), mask=at < cols)
"""
SPECIFICATION = """
claims: {op: rms_norm, mode: forward, dtype: bf16, casting: llama}
arguments: {x: {type: "*bf16", tensor: x}, y: {type: "*bf16", tensor: y}, cols: {type: i32, value: cols}}
divisible_by_16: [x, y, cols]
grid: [1, 1, 1]
"""


def python_with_triton():
    """Where scripts/test puts it, or what is here; the tests run in a folder of their own, so a path and no name."""
    for place in (os.environ.get("TRITON_PYTHON"), os.environ.get("VIRTUAL_ENV", "") + "/bin/python3", str(ROOT / "build-python/bin/python3"), sys.executable):
        if place and pathlib.Path(place).is_file() and subprocess.run([place, "-W", "ignore", "-c", "import triton, yaml"], capture_output=True).returncode == 0:
            return place
    return None


def candidates(python, folder, *words):
    environment = dict(os.environ, TRITON_CACHE_DIR=str(folder / "cache"), PYTHONWARNINGS="ignore")
    return subprocess.run([python, str(ROOT / "scripts/triton_candidates"), *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400)


def check(folder, normtune, mode, all_of_them, most):
    """What is wrong with a folder that was written."""
    launch = json.loads((folder / "launch.json").read_text())
    errors = []
    try:
        import jsonschema
        schema = json.loads((ROOT / "schemas/candidate.schema.json").read_text())
        errors += [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(launch)]
    except ImportError:
        print("python3-jsonschema is not installed")
    for arch in ("sm_90", "gfx942"):
        plan = subprocess.run([normtune, "plan", "--candidate", folder, "--candidates-only", "--arch", arch, "--format", "json", "--list", "--problem",
                               f"rms_norm/{mode}/bf16/llama/{SHAPE}"], capture_output=True, text=True, timeout=120)
        if plan.returncode != 0:
            errors.append(plan.stderr)
            continue
        problem = json.loads(plan.stdout)["problems"][0]
        files = [file for file in launch["code"]["files"] if file["arch"] == arch]
        if problem["points"] != len(files) or not 0 < problem["kept"] <= min(all_of_them, most):
            errors.append(f"{arch}: {problem}")
        if any((folder / file["file"]).read_bytes()[:4] != b"\x7fELF" for file in files):
            errors.append(f"{arch}: no machine code")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    normtune = parser.parse_args().normtune
    python = python_with_triton()
    if python is None:
        print("no Python here has triton and PyYAML: scripts/test installs them from PyPI into build-python")
        return SKIP
    failed = []
    with tempfile.TemporaryDirectory(prefix="normtune-test-") as name:
        work = pathlib.Path(name)
        for kernel, mode, all_of_them in KERNELS:
            most = 2
            out = work / kernel.partition(":")[2]
            made = candidates(python, work, f"examples/triton/{kernel}", "--shapes", SHAPE, "--arch", "sm_90,gfx942", "--most", str(most), "--out", str(out))
            failed += [f"{kernel}: {error}" for error in ([made.stderr] if made.returncode != 0 else check(out, normtune, mode, all_of_them, most))]
        # A kernel's own configurations, its prune function, a number that is taken for a multiple of 16.
        (work / "tuned.py").write_text(AUTOTUNED)
        (work / "copy.yaml").write_text(SPECIFICATION)
        made = candidates(python, work, f"{work}/tuned.py:copy", "--shapes", "8x1040,8x512", "--out", str(work / "copy"))
        if made.returncode != 0:
            failed.append(made.stderr)
        else:
            launch = json.loads((work / "copy/launch.json").read_text())
            blocks = [(file["tunables"]["BLOCK"], file["constants"]["shape_cols"]) for file in launch["code"]["files"]]
            if blocks != [(1024, 1040), (2048, 1040)] or launch["rules"][-1]["keep"] != "divides(16, cols)":
                failed.append(f"of @triton.autotune: {blocks}, {launch['rules']}")
            if launch["launches"][0]["arguments"][3:] != [{"name": f"triton_{i}", "type": "pointer", "value": None}
                                                          for i in range(len(launch["launches"][0]["arguments"]) - 3)]:
                failed.append(f"what Triton adds: {launch['launches'][0]['arguments']}")
        for words, expected in [((f"{work}/tuned.py:none",), "has no none"), ((f"{work}/none.py:copy",), "is not there"),
                                ((f"{work}/tuned.py:copy", "--shapes", "8"), "'8' is no ROWSxCOLS"),
                                ((f"{work}/tuned.py:copy", "--arch", "arm"), "arm: is neither sm_… nor gfx…"),
                                ((f"{work}/tuned.py:no_wider",), "is no @triton.jit function")]:
            refused = candidates(python, work, *words, "--out", str(work / "refused"))
            if refused.returncode != 2 or expected not in refused.stderr or refused.stderr.count("\n") != 1:
                failed.append(f"{words}: {refused.returncode} {refused.stderr}")
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
