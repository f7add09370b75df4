#!/usr/bin/env python3
"""Sets normtune's results.json and the peers' CSV of measure.py side by side, as a Markdown table.

    scripts/peers/table.py results.json peers.csv [--shapes 32768x128,8192x1024]

normtune's time is the median of the winner's fresh rounds in the finals, which had no part in choosing it. limit is its time over the
copy's in the sweep's own rounds, where both were measured side by side.
"""

import argparse
import csv
import json
import math
import statistics
import sys


def best_of_normtune(path):
    """{(op, mode, rows, cols): (µs, times the copy's)} of the winners."""
    best = {}
    with open(path) as file:
        records = json.load(file)["records"]
    for record in records:
        measured = record.get("measurement")
        if record["outcome"] == "passed" and measured and measured["rank"] == 1:
            problem = record["problem"]
            if not measured["final_rounds_us"]:
                raise ValueError(f"{path}: the winner of {problem['key']} has no fresh rounds")
            best[(problem["op"], problem["mode"], problem["rows"], problem["cols"])] = (
                statistics.median(measured["final_rounds_us"]), measured["limit_ratio"])
    return best


def peers_of(path):
    """{(op, mode, rows, cols): {provider: p50 in us}}."""
    peers = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["metric_name"] == "speed":
                rows = json.loads(row["extra_benchmark_config_str"])["M"]
                key = (row["kernel_name"], row["kernel_operation_mode"], rows, int(row["x_value"]))
                peers.setdefault(key, {})[row["kernel_provider"]] = float(row["y_value_50"]) * 1000
    return peers


def table(best, peers, shapes=None):
    """Lines of Markdown: one a shape and mode that both have (of `shapes`, where given), then geometric means by op and mode."""
    names = sorted({name for row in peers.values() for name in row} - {"copy"})
    lines = ["| op | mode | M×N | normtune µs | limit | " + " | ".join(names) + " | fastest peer / normtune |",
             "|---|---|---|---|---|" + "---|" * (len(names) + 1)]
    ratios = {}
    for key in best:
        others = {name: us for name, us in peers.get(key, {}).items() if name != "copy"}
        op, mode, rows, cols = key
        if not others or (shapes and f"{rows}x{cols}" not in shapes):
            continue
        ours, limit = best[key]
        ratio = min(others.values()) / ours
        ratios.setdefault((op, mode), []).append(ratio)
        cells = [f"{others[name]:.2f}" if name in others else "" for name in names]
        lines.append(f"| {op} | {mode} | {rows}×{cols} | {ours:.2f} | {limit:.2f} | " + " | ".join(cells) + f" | {ratio:.2f}× |")
    lines.append("")
    for (op, mode), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        lines.append(f"{op} {mode}: geometric mean {mean:.2f}× the fastest peer, least {min(values):.2f}×, "
                     f"over {len(values)} shapes.")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="normtune's results.json")
    parser.add_argument("peers", help="the CSV of measure.py")
    parser.add_argument("--shapes", metavar="MxN,…", help="these alone, and no means")
    arguments = parser.parse_args()
    shapes = arguments.shapes.split(",") if arguments.shapes else None
    try:
        lines = table(best_of_normtune(arguments.results), peers_of(arguments.peers), shapes)
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"table: {error}")
    print("\n".join(line for line in lines if line.startswith("|")) if shapes else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
