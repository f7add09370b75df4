#!/usr/bin/env python3
"""TransformerEngine's rows-per-program ladder (ROCm pull request 615) against the best of the rows per program measured.

    scripts/studies/te_ladder.py results.csv... --compute-units 132
"""

import argparse
import collections
import sys

import axis_effect


def ladder(mode, rows, cols, compute_units):
    """The ladder's rows per program, as normtune's heuristic te_rows_per_program (docs/heuristics.md)."""
    if mode == "forward":
        cap = 16 if cols <= 128 else 4 if cols <= 256 else 2 if cols <= 512 else 1
    else:
        cap = 4 if cols <= 128 else 2 if cols <= 512 else 1
    taken = 1
    while 2 * taken <= cap and rows % (2 * taken) == 0 and rows // (2 * taken) >= 8 * compute_units:
        taken *= 2
    if taken == 1 and cols <= 128 and rows % 4 == 0:
        return 4
    if taken == 1 and cols <= 512 and rows % 2 == 0:
        return 2
    return taken


def table(rows, compute_units):
    best = collections.defaultdict(dict)
    for row in rows:
        key = (row["mode"], int(row["rows"]), int(row["cols"]), row["casting"])
        found = best[key].get(int(row["rows_per_program"]))
        if found is None or float(row["p50_us"]) < float(found["p50_us"]):
            best[key][int(row["rows_per_program"])] = row
    lines = ["| mode | M×N | casting | ladder | µs | best | µs | its configuration | limit_ratio | ladder's loss |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for (mode, rows_, cols, casting), by_rows in sorted(best.items()):
        taken = ladder(mode, rows_, cols, compute_units)
        winner = min(by_rows, key=lambda count: float(by_rows[count]["p50_us"]))
        best_us = float(by_rows[winner]["p50_us"])
        us = float(by_rows[taken]["p50_us"]) if taken in by_rows else None
        lines.append(f"| {mode} | {rows_}×{cols} | {casting} | {taken} | {'' if us is None else f'{us:.2f}'} | {winner} | {best_us:.2f} "
                     f"| {by_rows[winner]['config']} | {float(by_rows[winner]['limit_ratio']):.2f} "
                     f"| {'' if us is None else f'{us / best_us - 1:.1%}'} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="results.csv of sweeps; .gz too")
    parser.add_argument("--compute-units", type=int, required=True, help="multiprocessors of the device (normtune devices)")
    arguments = parser.parse_args()
    try:
        lines = table(axis_effect.passed_rows(arguments.results), arguments.compute_units)
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"te_ladder: {error}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
