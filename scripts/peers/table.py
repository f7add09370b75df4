#!/usr/bin/env python3
"""Sets normtune's results.csv and the peers' CSV of measure.py side by side, as a Markdown table.

    scripts/peers/table.py results.csv peers.csv
"""

import argparse
import csv
import json
import math
import sys


def best_of_normtune(path):
    """{(op, mode, rows, cols): the winner's row}."""
    best = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["outcome"] != "passed" or not row["p50_us"]:
                continue
            key = (row["op"], row["mode"], int(row["rows"]), int(row["cols"]))
            if row["rank"] == "1" or key not in best or (
                    best[key]["rank"] != "1" and float(row["p50_us"]) < float(best[key]["p50_us"])):
                best[key] = row
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


def table(best, peers):
    """Lines of Markdown: one a shape and mode that both have, then geometric means by op and mode."""
    names = sorted({name for row in peers.values() for name in row} - {"copy"})
    lines = ["| op | mode | M×N | normtune µs | limit | " + " | ".join(names) + " | fastest peer / normtune |",
             "|---|---|---|---|---|" + "---|" * (len(names) + 1)]
    ratios = {}
    for key in best:
        others = {name: us for name, us in peers.get(key, {}).items() if name != "copy"}
        if not others:
            continue
        op, mode, rows, cols = key
        ours = float(best[key]["p50_us"])
        ratio = min(others.values()) / ours
        ratios.setdefault((op, mode), []).append(ratio)
        limit = f"{float(best[key]['limit_ratio']):.2f}" if best[key]["limit_ratio"] else ""
        cells = [f"{others[name]:.2f}" if name in others else "" for name in names]
        lines.append(f"| {op} | {mode} | {rows}×{cols} | {ours:.2f} | {limit} | " + " | ".join(cells) + f" | {ratio:.2f}× |")
    lines.append("")
    for (op, mode), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        lines.append(f"{op} {mode}: geometric mean {mean:.2f}× the fastest peer, least {min(values):.2f}×, "
                     f"over {len(values)} shapes.")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="normtune's results.csv")
    parser.add_argument("peers", help="the CSV of measure.py")
    arguments = parser.parse_args()
    print("\n".join(table(best_of_normtune(arguments.results), peers_of(arguments.peers))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
