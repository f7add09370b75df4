#!/usr/bin/env python3
"""Plants the bugs of tests/data/planted_bugs.json in normtune's kernels on a GPU and prints which of them verification tells, by shape.

    scripts/planted_bugs.py --out results/h100/planted.md      # about two minutes on an H100

Each bug is an emitted kernel with its source edited, verified as a candidate beside the one that is as it was. Exit code 1: a bug was not
told as incorrect, or a right kernel was. `least_rows`: with fewer it is no bug, as one row has no sum over rows.

    scripts/planted_bugs.py --shapes 1x4096,8x128,8192x5120   # others: M×N, comma-separated
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLANTED = json.loads((ROOT / "tests/data/planted_bugs.json").read_text())
KINDS = {"forward": "rms_norm/forward", "fused_forward": "fused_add_rms_norm/forward", "backward": "rms_norm/backward",
         "fused_backward": "fused_add_rms_norm/backward", "registers": "rms_norm/backward", "atomic": "rms_norm/backward",
         "race": "rms_norm/forward", "inference": "rms_norm/inference", "fused_inference": "fused_add_rms_norm/inference"}
IN_PLACE = {"fused_inference"}


def configuration(kind, cols):
    """One that keeps a row in registers, about 16 elements a thread; a race needs several warps a row, each with columns of it: what a
    warp without any adds is 0, waited for or not. A backward of 16,384 columns or more, whose sums a program's registers lack the room for,
    lies over a cluster of two, or, where its sums are atomic, which a cluster's are not, comes by the block."""
    backward = KINDS[kind].endswith("backward")
    blocks = backward and cols >= 16384 and kind == "atomic"
    cluster = 2 if backward and cols >= 16384 and not blocks else 1
    threads, vector_bytes = 32, 16
    while cluster * threads < (512 if blocks else 1024) and (cluster * threads * 17 < cols or (kind == "race" and threads < 64)):
        threads *= 2
    while kind == "race" and vector_bytes > 2 and (threads - 32) * vector_bytes // 2 >= cols:
        vector_bytes //= 2
    row = "b8192.reload" if blocks else "row.registers"
    grid = "persistent_strided" if backward else "per_row"
    further = [f"v{vector_bytes}"] * (vector_bytes < 16) + ["atomic"] * (kind == "atomic") + [f"c{cluster}"] * (cluster > 1)
    return ".".join([f"w{threads // 32}.t{threads}.r1.{row}.masked.{grid}", *further])


def run(command):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NORMTUNE_STORE": ""})


def emit(arguments, folder, kind, shape):
    """The kind's right kernel on the shape, as a folder; nothing where the device cannot have it."""
    cols = int(shape.split("x")[1])
    done = run([arguments.normtune, "emit", "--problem",
                f"{KINDS[kind]}/bf16/llama/{shape}" + ("/in_place" if kind in IN_PLACE else ""), "--config", configuration(kind, cols),
                "--backend", arguments.backend, "--out", str(folder)])
    if done.returncode != 0:
        print(f"{kind} on {shape} left out: {done.stderr.strip()}", file=sys.stderr)
    return done.returncode == 0


def plant(right, folder, name, edits):
    """A folder like `right`, with each edit made in its source, where it has to fit once."""
    source = (right / "kernel.cu").read_text()
    for old, new in edits:
        if source.count(old) != 1:
            raise SystemExit(f"{name}: the source has {source.count(old)} of {old!r}, not one")
        source = source.replace(old, new)
    folder.mkdir()
    (folder / "kernel.cu").write_text(source)
    launch = json.loads((right / "launch.json").read_text())
    launch.update(provider="planted", configuration=name, code={"file": "kernel.cu"})
    (folder / "launch.json").write_text(json.dumps(launch))


def verify_shape(arguments, work, shape, bugs):
    """Outcome and reason of each planted kernel, by its name."""
    place = work / shape
    place.mkdir()
    kinds = {kind for kind in KINDS if emit(arguments, place / f"right_{kind}", kind, shape)}
    names = []
    for bug in bugs + [{"name": f"right_{kind}_kernel", "on": kind, "edits": []} for kind in KINDS]:
        if bug["on"] in kinds and int(shape.split("x")[0]) >= bug.get("least_rows", 1):
            plant(place / f"right_{bug['on']}", place / bug["name"], bug["name"], bug["edits"])
            names.append(bug["name"])
    done = run([arguments.normtune, "verify", "--backend", arguments.backend, "--candidates-only", "--quiet", "--out", str(place / "run"),
                *(option for name in names for option in ("--candidate", str(place / name)))])
    table = place / "run" / "results.csv"
    if not table.exists():
        raise SystemExit(f"{shape}: {done.stderr.strip()}")
    return {row["config"]: (row["outcome"], row["reason"]) for row in csv.DictReader(table.open())}


def mark(outcome):
    return {"incorrect": "told", "passed": "NOT TOLD", None: "–"}.get(outcome, outcome)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--normtune", default=os.environ.get("NORMTUNE", str(ROOT / "build/bin/normtune")))
    parser.add_argument("--backend", default=os.environ.get("CHECK_BACKEND", "cuda"))
    parser.add_argument("--shapes", default=",".join(PLANTED["shapes"]), help="M×N, comma-separated")
    parser.add_argument("--out", help="write the table there, too")
    arguments = parser.parse_args()
    shapes = arguments.shapes.split(",")
    bugs = list(PLANTED["bugs"])
    # A forward that stores no rstd has the forward's bugs, but for those of the stored rstd.
    bugs += [{**bug, "name": f"inference_{bug['name']}", "on": bug["on"].replace("forward", "inference")}
             for bug in bugs if bug["on"] in ("forward", "fused_forward") and "needs" not in bug]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 2)) as pool:
        work = pathlib.Path(folder)
        found = dict(zip(shapes, pool.map(lambda shape: verify_shape(arguments, work, shape, bugs), shapes)))
    lines = [f"| bug | {' | '.join(shapes)} |", f"|---|{'---|' * len(shapes)}"]
    told = missed = wrong = 0
    for name in [bug["name"] for bug in bugs] + [f"right_{kind}_kernel" for kind in KINDS]:
        outcomes = [found[shape].get(name, (None, ""))[0] for shape in shapes]
        right = re.fullmatch("right_.*_kernel", name)
        if right:
            wrong += sum(outcome not in ("passed", None) for outcome in outcomes)
            lines.append(f"| {name} | {' | '.join(outcome or '–' for outcome in outcomes)} |")
            continue
        told += outcomes.count("incorrect")
        missed += sum(outcome not in ("incorrect", None) for outcome in outcomes)  # not run is not told either
        lines.append(f"| {name} | {' | '.join(map(mark, outcomes))} |")
    lines.append("")
    lines.append(f"{len(bugs)} bugs, {told + missed} kernels: {told} told, {missed} not told; of the right kernels {wrong} failed.")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    for shape in shapes:
        for name, (outcome, reason) in found[shape].items():
            if outcome not in ("incorrect", "passed") or (name.startswith("right_") and outcome != "passed"):
                print(f"{shape} {name}: {outcome}: {reason}", file=sys.stderr)
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    return 1 if missed or wrong or not told else 0


if __name__ == "__main__":
    sys.exit(main())
