#!/usr/bin/env python3
"""What shipped results say of where they come from, as a table: `provenance.py qwen3.csv triton_te_615.csv …`.

A results.csv tells driver, clocks, empty launch, timer and copy; the results.json or NAME.environment.json beside it, where one is shipped,
the revision of the sources, the GPU's UUID and the command. A dash: the file does not say. Left out: a CSV of no trials (package_times.csv, whose
own columns say it).
"""

import csv
import json
import pathlib
import sys

HEADER = ["results", "measured", "revision", "GPU's UUID", "driver", "command", "clock", "memory's clock", "empty launch", "timer", "copy", "least limit_ratio"]


def has_trials(path):
    with open(path, newline="") as file:
        return "outcome" in (csv.DictReader(file).fieldnames or ())


def line(path):
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "passed" and row["p50_us"]]
    environment, command = {}, []
    for beside in (path.with_suffix(".json"), path.with_suffix(".environment.json")):
        if beside.exists():
            results = json.loads(beside.read_text())
            environment, command = results["environment"], results["command"]
            break

    def recorded(column):
        return "yes" if rows and all(float(row.get(column) or 0) > 0 for row in rows) else "-"

    ratios = [float(row["limit_ratio"]) for row in rows if float(row["limit_us"] or 0) > 0]
    drivers = sorted({row["driver"].split(",")[0] for row in rows})
    return [str(path.with_suffix("")), f"{len(rows):,}", environment.get("source_revision") or "-", environment.get("device", {}).get("uuid") or "-",
            ", ".join(drivers) or "-", "whole" if command else "-", recorded("clock_mhz"), recorded("memory_clock_mhz"),
            recorded("floor_us"), ", ".join(sorted({row["timer"] for row in rows})), "of several" if rows and rows[0].get("limit_copy") else "one", f"{min(ratios):.3f}"]


def main():
    table = [HEADER, ["---"] * 2 + ["---"] * (len(HEADER) - 3) + ["--:"]]
    table[1][1] = "--:"
    table += [line(path) for path in map(pathlib.Path, sys.argv[1:]) if has_trials(path)]
    for cells in table:
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
