#!/usr/bin/env python3
"""Compares every results.json of one folder with every one of another, both ways round: what `normtune compare` calls of equal code.

    scripts/studies/across.py tests/data/repeated/h100_a tests/data/repeated/h100_b
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
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    first, second = (sorted(pathlib.Path(name).glob("*.json")) for name in sys.argv[1:])
    sides = [(a, b) for a in first for b in second]
    sides += [(b, a) for a, b in sides]
    if not sides:
        sys.exit("across: a folder without results")
    counts = collections.Counter(verdict for before, after in sides for verdict in verdicts(before, after))
    called = counts["slower"] + counts["faster"]
    print(f"{len(sides)} comparisons, {counts.total():,} pairs: {called} called slower or faster, {counts['ambiguous']} ambiguous.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
