#!/usr/bin/env python3
"""What equal bits cost by shape, in percent of the best of all that was measured, as a markdown table: `normtune best` with one of its options.
NORMTUNE names the executable. With --compared, how many trials' bits were compared, by how their dgamma is summed, and how many differ.

    scripts/studies/bits.py RESULTS --batch-invariant|--deterministic
    scripts/studies/bits.py RESULTS... --compared
"""

import argparse
import collections
import json
import os
import subprocess
import sys


def prices(path, option):
    command = [os.environ.get("NORMTUNE", "normtune"), "best", path, option, "--format", "json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: nothing is admitted for some problem
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)["prices"]


def print_compared(paths):
    counts = collections.defaultdict(collections.Counter)
    for path in paths:
        with open(path) as file:
            records = json.load(file)["records"]
        for record in records:
            problem, bits = record["problem"], record.get("bits", {})
            sums = record["configuration"]["dgamma"] if problem["mode"] != "forward" else ""
            counts[problem["op"], problem["mode"], sums].update(
                trials=1, rows="row_bits" in bits, apart=bool(bits.get("rows_differ")), runs="row_bits" in bits and bool(sums), changing=bool(bits.get("runs_differ")))
    print("| op, mode | dgamma | trials | rows compared | they differ | runs compared | they differ |\n|---|---|--:|--:|--:|--:|--:|")
    for (op, mode, sums), found in sorted(counts.items(), key=lambda one: (one[0][1] != "forward", one[0][0] != "rms_norm", one[0][2])):
        print(f"| {op} {mode} | {sums or '–'} | {found['trials']} | {found['rows']} | {found['apart']} | {found['runs'] if sums else '–'} | {found['changing'] if sums else '–'} |")


def price(shape):
    if shape is None:
        return ""
    if shape.get("loss") is None:
        return "none admitted"
    if shape["taken"] == shape["unrestricted"]:
        return "0"
    return f"{100 * shape['loss']:.1f} ±{50 * (shape['high'] - shape['low']):.1f}".replace("-0.0 ", "0.0 ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    option = parser.add_mutually_exclusive_group(required=True)
    option.add_argument("--batch-invariant", action="store_const", dest="option", const="--batch-invariant")
    option.add_argument("--deterministic", action="store_const", dest="option", const="--deterministic")
    option.add_argument("--compared", action="store_const", dest="option", const="--compared")
    arguments = parser.parse_args()
    if arguments.option == "--compared":
        return print_compared(arguments.results)
    if len(arguments.results) > 1:
        parser.error(f"{arguments.option} takes one file")
    found = {}
    for group in prices(arguments.results[0], arguments.option):
        for shape in group["shapes"]:
            op, mode, _, _, size, *_ = shape["problem"].split("/")
            rows, cols = map(int, size.split("x"))
            found.setdefault((cols, rows), {})[op, mode] = shape
    operations = sorted({operation for shapes in found.values() for operation in shapes}, key=lambda o: (o[0] != "rms_norm", o[1] != "forward"))
    print("|" + "".join(f" {cell} |" for cell in ["M×N", *(f"{op} {mode}, %" for op, mode in operations)]))
    print("|---|" + "--:|" * len(operations))
    for (cols, rows), shapes in sorted(found.items()):
        print("|" + "".join(f" {cell} |" for cell in [f"{rows}×{cols}", *(price(shapes.get(operation)) for operation in operations)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
