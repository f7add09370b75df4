#!/usr/bin/env python3
"""Device times of the package for PyTorch beside those of the sweep that it comes from, on the GPU of this machine.

    scripts/package_times.py --out package_times.csv              sweeps, exports and times three times over; about five minutes
    scripts/package_times.py --from results/h200/package_times.csv     its table again

Each run sweeps the shapes in processes of its own, writes the package (`normtune best --format torch`), and times its calls in another process
(`python -m normtune_kernels.bench`). A run's two times are of one GPU and of the same kernel. Exit code 1: a time is missing, or was not
recorded by that sweep.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = "1x1024,128x1024,2048x1024,8192x1024,128x4096,8192x4096"
COLUMNS = ["revision", "device", "device_id", "driver", "run", "rows", "cols", "mode", "sweep_us", "package_us", "sweep_empty_us", "package_empty_us"]


def shapes_file(shapes):
    sites = [f"      - {{site: m{rows}n{cols}, cols: {cols}, rows_per_token: {rows}}}" for rows, cols in shapes]
    return "\n".join(["name: package_times", "eps: 1.0e-6", "models:", "  - name: package_times", "    sites:", *sites, "tokens: [1]", "dtypes: [bf16]",
                      "ops: [rms_norm]", "modes: [forward, backward]", ""])


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise SystemExit(f"package_times: {' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")


def one_run(arguments, work, number):
    folder = work / str(number)
    folder.mkdir()
    normtune = str(pathlib.Path(arguments.normtune).resolve())
    environment = {**os.environ, "NORMTUNE_STORE": "", "NORMTUNE_CACHE_DIR": str(work / "compiled"), "NORMTUNE_KERNELS_CACHE": str(work / "extension")}
    run([normtune, "sweep", "--shapes", str(work / "shapes.yaml"), "--quiet", "--out", str(folder / "sweep")], env=environment)
    run([normtune, "best", str(folder / "sweep"), "--format", "torch", "--out", str(folder / "package")], env=environment)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder / "package"), environment.get("PYTHONPATH")]))
    table = folder / "bench.csv"
    run([sys.executable, "-W", "ignore", "-m", "normtune_kernels.bench", "--shapes", arguments.shapes, "--csv", str(table)], env=environment)
    of_sweep = json.loads((folder / "sweep" / "results.json").read_text())["environment"]
    same = {"revision": of_sweep.get("source_revision", ""), "device": of_sweep["device"]["name"], "device_id": of_sweep["device"].get("uuid", ""),
            "driver": of_sweep["device"].get("driver", ""), "run": number}
    with table.open(newline="") as lines:
        times = list(csv.DictReader(lines))
    for row in times:
        yield {**same, "rows": row["rows"], "cols": row["cols"], "mode": row["mode"], "sweep_us": row["sweep_us"], "package_us": row["device_us"],
               "sweep_empty_us": row["sweep_empty_us"], "package_empty_us": row["empty_us"]}


def print_table(rows):
    """Of each shape and mode every run's two times and how far the package's is off, and how far apart the sweeps' own are."""
    if not rows:
        raise SystemExit("package_times: no time of the package has one of a sweep of this GPU beside it")
    found = {}
    for row in rows:
        found.setdefault((int(row["cols"]), int(row["rows"]), row["mode"]), []).append((float(row["sweep_us"]), float(row["package_us"])))
    runs = max(map(len, found.values()))
    print("| M×N | mode | in the sweep, in the package, µs | off | off in the mean | the sweeps apart |\n|---|---|---|---|--:|--:|")
    within, within_in_mean = 0, 0
    for (cols, count, mode), times in sorted(found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2] != "forward")):
        off = [package / sweep - 1 for sweep, package in times]
        mean = statistics.fmean(off)
        sweeps = [sweep for sweep, _ in times]
        within += sum(abs(one) <= 0.01 for one in off)
        within_in_mean += abs(mean) <= 0.01
        print(f"| {count}×{cols} | {mode} | {'; '.join(f'{sweep:.2f}, {package:.2f}' for sweep, package in times)} | "
              f"{', '.join(f'{100 * one:+.1f} %' for one in off)} | {100 * mean:+.1f} % | {100 * (max(sweeps) / min(sweeps) - 1):.1f} % |")
    print(f"\nWithin 1 %: {within} of {sum(map(len, found.values()))} times; in the mean of {runs} runs {within_in_mean} of {len(found)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--normtune", default=os.environ.get("NORMTUNE", str(ROOT / "build/bin/normtune")))
    parser.add_argument("--shapes", default=SHAPES, help=f"M×N, comma-separated (default: {SHAPES})")
    parser.add_argument("--runs", type=int, default=3, choices=range(1, 21), metavar="N", help="(default: 3)")
    parser.add_argument("--out", help="the times, as CSV")
    parser.add_argument("--from", dest="recorded", help="a CSV of --out: its table, and nothing is measured")
    arguments = parser.parse_args()
    if arguments.recorded:
        try:
            with open(arguments.recorded, newline="") as table:
                print_table(list(csv.DictReader(table)))
        except (OSError, KeyError, ValueError) as error:
            parser.error(f"--from {arguments.recorded}: not a CSV of --out: {error}")
        return 0
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*(,[1-9]\d*x[1-9]\d*)*", arguments.shapes):
        parser.error(f"--shapes: '{arguments.shapes}' is not as {SHAPES}")
    shapes = [tuple(map(int, shape.split("x"))) for shape in arguments.shapes.split(",")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "shapes.yaml").write_text(shapes_file(shapes))
        for number in range(1, arguments.runs + 1):
            rows += one_run(arguments, work, number)
    whole = [row for row in rows if row["sweep_us"]]
    if arguments.out:
        with open(arguments.out, "w", newline="") as table:
            out = csv.DictWriter(table, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(whole)
    print_table(whole)
    return 0 if len(whole) == len(rows) == 2 * len(shapes) * arguments.runs else 1


if __name__ == "__main__":
    sys.exit(main())
