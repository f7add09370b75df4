#!/usr/bin/env python3
"""What one axis does by itself: pairs of trials that differ in that axis alone, as Markdown.

    scripts/studies/axis_effect.py results.csv... --axis reduction --against masked
    scripts/studies/axis_effect.py results.csv --axis rows_binding --against constexpr --by mode,cols

An axis that a file has no column of is equal in all of its rows. For each group of problems and each other value: how many pairs there are, in how many of them both have the same machine
code, the ratio of their p50 (geometric mean, least, most) over pairs of different code, and the ratio of the fastest
configuration with that value to the fastest with the value that it is set against.
"""

import argparse
import collections
import csv
import gzip
import json
import math
import pathlib
import sys

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "results.schema.json"
AXES = [name for name in json.loads(SCHEMA.read_text())["$defs"]["configuration"]["properties"] if name != "key"]
PROBLEM = ("op mode dtype casting rows cols row_stride weight_dtype affine offset in_place residual").split()


def passed_rows(paths):
    """Passed trials of results.csv files, which may be compressed."""
    for path in paths:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", newline="") as file:
            yield from (row for row in csv.DictReader(file) if row["outcome"] == "passed" and row["p50_us"])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def effects(rows, axis, against, by):
    """[(group, value, pairs, same code, [ratio of each pair of different code], best ratio)], sorted by group and value.

    The best ratio is the geometric mean over the group's problems; None where no problem has both values."""
    others = [other for other in AXES if other != axis]
    alike = collections.defaultdict(dict)
    best = collections.defaultdict(dict)
    for row in rows:
        problem = tuple(row[column] for column in PROBLEM)
        group = tuple(row[column] for column in by)
        alike[(group, problem) + tuple(row.get(other) for other in others)][row[axis]] = row
        fastest = best[(group, problem)]
        fastest[row[axis]] = min(float(row["p50_us"]), fastest.get(row[axis], math.inf))
    pairs = collections.defaultdict(lambda: [0, 0, []])
    for key, values in alike.items():
        base = values.get(against)
        for value, row in values.items():
            if value != against and base is not None:
                entry = pairs[(key[0], value)]
                entry[0] += 1
                if row["code_hash"] == base["code_hash"] and row["code_hash"]:
                    entry[1] += 1
                else:
                    entry[2].append(float(row["p50_us"]) / float(base["p50_us"]))
    winners = collections.defaultdict(list)
    for (group, _), values in best.items():
        for value, us in values.items():
            if value != against and against in values:
                winners[(group, value)].append(us / values[against])

    def order(key):
        return [(0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in (*key[0], key[1])]

    return [(group, value, *pairs[(group, value)], geometric_mean(winners[(group, value)]) if winners[(group, value)] else None)
            for group, value in sorted(set(pairs) | set(winners), key=order)]


def table(found, axis, against, by):
    lines = ["| " + " | ".join(by) + f" | {axis} | pairs | same code | others: mean | least | most | best against best |",
             "|" + "---|" * (len(by) + 7)]
    for group, value, pairs, same, ratios, best in found:
        figures = [f"{figure:.3f}" for figure in (geometric_mean(ratios), min(ratios), max(ratios))] if ratios else ["", "", ""]
        lines.append("| " + " | ".join(group) + f" | {value} | {pairs} | {same} | " + " | ".join(figures)
                     + f" | {'' if best is None else f'{best:.3f}'} |")
    lines.append("")
    lines.append(f"Ratios of p50 to that with {axis} {against}: above 1 is slower.")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="results.csv of sweeps; .gz too")
    parser.add_argument("--axis", required=True, choices=AXES)
    parser.add_argument("--against", required=True, metavar="VALUE", help="the value that the others are set against")
    parser.add_argument("--by", default="mode,rows,cols", help="columns that part the pairs into groups (default: %(default)s)")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="only these rows")
    arguments = parser.parse_args()
    by = arguments.by.split(",")
    try:
        conditions = [condition.split("=", 1) for condition in arguments.where]
        rows = [row for row in passed_rows(arguments.results) if all(row[column] == value for column, value in conditions)]
        found = effects(rows, arguments.axis, arguments.against, by)
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"axis_effect: {error}")
    if not found:
        print(f"axis_effect: no trials differ in {arguments.axis} alone from one with {arguments.against}", file=sys.stderr)
        return 2
    print("\n".join(table(found, arguments.axis, arguments.against, by)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
