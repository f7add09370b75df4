#!/usr/bin/env python3
"""Compares every results.json of one folder with every one of another, or with every other one of the same, both ways round: what
`normtune compare` calls of equal code.

    scripts/studies/across.py tests/data/repeated/h100_a tests/data/repeated/h100_b
    scripts/studies/across.py tests/data/repeated/h100_c
"""

import collections
import json
import os
import pathlib
import subprocess
import sys


def verdicts(before, after):
    try:
        done = subprocess.run([os.environ.get("NORMTUNE", "normtune"), "compare", before, after, "--format", "json"], capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"across: {error}")
    if done.returncode not in (0, 1, 3):
        sys.exit(f"across: {done.stderr.strip()}")
    return [pair["verdict"] for pair in json.loads(done.stdout)["pairs"]]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    first, second = (sorted(pathlib.Path(name).glob("*.json")) for name in (sys.argv[1], sys.argv[-1]))
    sides = list(dict.fromkeys(side for a in first for b in second if a != b for side in ((a, b), (b, a))))
    if not sides:
        sys.exit("across: a folder without results")
    counts = [collections.Counter(verdicts(before, after)) for before, after in sides]
    called = [one["slower"] + one["faster"] for one in counts]
    print(f"{len(sides)} comparisons, {sum(one.total() for one in counts):,} pairs: {sum(called)} called slower or faster, in "
          f"{sum(one > 0 for one in called)} of the comparisons, {sum(one['ambiguous'] for one in counts):,} ambiguous.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
