#!/usr/bin/env python3
"""What sweeps of rows over clusters, and of dgamma beside dx, found: by problem the least p50 in µs, and times the limit, as Markdown.

    scripts/studies/clusters.py results/h100/clusters.csv.gz

The file is the results.csv of several sweeps, with the column `kernels` before: which state of the kernels that were tried. They ran as
`--candidate` folders (providers fwd, ffwd, bwd, fbwd, few); normtune's own configurations of that sweep are of the kernels before."""

import csv
import gzip
import re
import sys

COLUMNS = ("own", "2", "4", "8", "16", "beside")


def column(row):
    if row["provider"] == "normtune":
        return "own"
    cluster = re.search(r"NT_CLUSTER=(\d+)", row["config"])
    return cluster[1] if cluster else "beside"


def main():
    with gzip.open(sys.argv[1], "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "passed" and row["p50_us"]]
    best, count = {}, {}
    for row in rows:
        fused = "fused " if row["op"].startswith("fused") else ""
        of = (f"{fused}{row['mode']}", int(row["rows"]), int(row["cols"]), row["kernels"])
        count[of] = count.get(of, 0) + 1
        found = best.setdefault(of, {})
        if column(row) not in found or float(row["p50_us"]) < float(found[column(row)]["p50_us"]):
            found[column(row)] = row
    print("| op, mode, M×N | kernels | measured | without | clusters of 2 | of 4 | of 8 | of 16 | beside dx |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for of, found in sorted(best.items(), key=lambda item: (item[0][2], item[0])):
        cells = [f"{float(found[name]['p50_us']):.2f} ({float(found[name]['limit_ratio']):.2f})" if name in found else "" for name in COLUMNS]
        print(f"| {of[0]} {of[1]}×{of[2]} | {of[3]} | {count[of]} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
