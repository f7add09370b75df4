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
HEURISTIC = """
import triton, triton.language as tl
@triton.heuristics({"EVEN": lambda args: args["cols"] % 1024 == 0})
@triton.jit
def even(x, y, stride, cols, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y + at, tl.load(x + at))
    else:
        tl.store(y + at, tl.load(x + at, mask=at < cols), mask=at < cols)
@triton.autotune(configs=[triton.Config({"BLOCK": 1024}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=4, maxnreg=64)], key=["cols"])
@triton.jit
def limited(x, y, cols, BLOCK: tl.constexpr):
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


def kept(normtune, folder, shape):
    """How many of how many files a plan keeps; or what is wrong with the folder."""
    plan = subprocess.run([normtune, "plan", "--candidate", folder, "--candidates-only", "--arch", "sm_90", "--format", "json", "--problem",
                           f"rms_norm/forward/bf16/llama/{shape}"], capture_output=True, text=True, timeout=120)
    if plan.returncode != 0:
        return plan.stderr
    problem = json.loads(plan.stdout)["problems"][0]
    return problem["kept"], problem["points"]


def check_heuristics(python, normtune, work):
    """What @triton.heuristics gave for a shape is for no other, nor for another stride, which it read."""
    (work / "even.yaml").write_text(SPECIFICATION.replace("cols: {type", "stride: {type: i32, value: row_stride}, cols: {type")
                                    + "configurations: {BLOCK: [1024]}\n")
    made = candidates(python, work, f"{work}/heuristic.py:even", "--shapes", "8x1024,8x1008", "--out", str(work / "even"))
    if made.returncode != 0:
        return [made.stderr]
    files = json.loads((work / "even/launch.json").read_text())["code"]["files"]
    found = [[file["constants"].get(name) for name in ("shape_cols", "EVEN")] for file in files]
    errors = [] if found == [[1024, 1], [1008, 0]] else [f"heuristics: {found}"]
    for shape, expected in [("8x1024", (1, 2)), ("8x1008", (1, 2)), ("8x512", (0, 2)), ("16x1024", (0, 2)), ("8x1024/stride2048", (0, 2))]:
        if kept(normtune, work / "even", shape) != expected:
            errors.append(f"heuristics on {shape}: {kept(normtune, work / 'even', shape)}")
    return errors


def check_options(python, normtune, work):
    """Options that only some configurations name are the compiler's defaults in the others."""
    (work / "limited.yaml").write_text(SPECIFICATION)
    (work / "listed.yaml").write_text(SPECIFICATION + "configurations: [{BLOCK: 1024}, {BLOCK: 2048, num_warps: 8}, {BLOCK: 1024, num_warps: 4}]\n")
    errors = []
    for name, more, expected in [("limited", (), [{"BLOCK": 1024, "num_warps": 4, "num_stages": 3, "maxnreg": limit} for limit in (0, 64)]),
                                 ("listed", ("--spec", f"{work}/listed.yaml"), [{"BLOCK": 1024, "num_warps": 4}, {"BLOCK": 2048, "num_warps": 8}])]:
        made = candidates(python, work, f"{work}/heuristic.py:limited", *more, "--shapes", "8x1000", "--out", str(work / name))
        if made.returncode != 0:
            errors.append(made.stderr)
            continue
        tunables = [file["tunables"] for file in json.loads((work / name / "launch.json").read_text())["code"]["files"]]
        if tunables != expected or kept(normtune, work / name, "8x1008") != (2, 2):
            errors.append(f"{name}: {tunables}, {kept(normtune, work / name, '8x1008')}")
    return errors


def check_an_aborted_compile(python, work):
    """One compiler that ends without a word is told, and the others' files are written."""
    once = f"""
import multiprocessing, os, signal
if multiprocessing.current_process().name != "MainProcess":
    try:
        os.close(os.open({str(work / "aborted")!r}, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        pass
"""
    (work / "aborting.py").write_text(once + AUTOTUNED)
    made = candidates(python, work, f"{work}/aborting.py:copy", "--shapes", "8x1040,8x512", "--out", str(work / "aborting"))
    files = len(json.loads((work / "aborting/launch.json").read_text())["code"]["files"]) if (work / "aborting").exists() else 0
    good = made.returncode == 5 and files == 1 and made.stderr.count("\n") == 1 and "the compiler ended with SIGKILL" in made.stderr
    return [] if good else [f"an aborted compile: {made.returncode}, {files} files, {made.stderr}"]


def check_refusals(python, work):
    """One line and exit code 2."""
    (work / "broken.py").write_text("import triton\ndef f(:\n")
    (work / "raises.py").write_text("import triton\n\nnone\n")
    specifications = {"empty": "", "list": "- claims\n", "typeless": SPECIFICATION.replace('type: "*bf16", tensor: x', "tensor: x")}
    for name, text in [("no_value", "{BLOCK: [], TWICE: 0}"), ("none", "[]"), ("word", "BLOCK"), ("names", "[{BLOCK: 1024, TWICE: 0}, {BLOCK: 2048}]")]:
        specifications[name] = SPECIFICATION + f"configurations: {text}\n"
    specifications["names"] += "constants: {TWICE: 1}\n"
    specifications["no_cols"] = SPECIFICATION.replace("cols: {type: i32, value: cols}", "stride: {type: i32}, cols: {type: i32}")
    for name, text in specifications.items():
        (work / f"{name}.yaml").write_text(text)
    copy, of = f"{work}/tuned.py:copy", lambda name: ("--spec", f"{work}/{name}.yaml")
    errors = []
    for words, expected in [((f"{work}/tuned.py:none",), "has no none"), ((f"{work}/none.py:copy",), "is not there"),
                            ((copy, "--shapes", "8"), "'8' is no ROWSxCOLS"),
                            ((copy, "--arch", "arm"), "arm: is neither sm_… nor gfx…"),
                            ((copy, "--arch", "sm_90,sm_"), "sm_: is no sm_ and a number"),
                            ((copy, "--arch", "sm_90a"), "sm_90a: is no sm_ and a number"),
                            ((copy, "--most", "0"), "--most: 0 is below 1"),
                            ((copy, "--most", "-1"), "--most: -1 is below 1"),
                            ((f"{work}/tuned.py:no_wider",), "is no @triton.jit function"),
                            ((copy, "--shapes", "8x1"), "no configuration is left"),
                            ((f"{work}/broken.py:f",), "broken.py:2: invalid syntax"),
                            ((f"{work}/raises.py:f",), "raises.py:3: NameError: name 'none' is not defined"),
                            ((f"{work}/heuristic.py:even", *of("no_cols")), "the heuristic of EVEN: TypeError: "),
                            ((copy, *of("empty")), "empty.yaml: is empty"),
                            ((copy, *of("list")), "list.yaml: has no keys"),
                            ((copy, *of("typeless")), "typeless.yaml: arguments/x: 'type' is missing"),
                            ((copy, *of("no_value")), "no_value.yaml: configurations/BLOCK: is an empty list"),
                            ((copy, *of("none")), "none.yaml: configurations: are none"),
                            ((copy, *of("word")), "word.yaml: configurations: are neither"),
                            ((copy, *of("names")), "configuration {'BLOCK': 2048}: has other names than the first one, {'BLOCK': 1024, 'TWICE': 0}: TWICE")]:
        refused = candidates(python, work, *words, "--out", str(work / "refused"))
        if refused.returncode != 2 or expected not in refused.stderr or refused.stderr.count("\n") != 1:
            errors.append(f"{words}: {refused.returncode} {refused.stderr}")
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
        (work / "heuristic.py").write_text(HEURISTIC)
        failed += check_heuristics(python, normtune, work)
        failed += check_options(python, normtune, work)
        failed += check_an_aborted_compile(python, work)
        failed += check_refusals(python, work)
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
