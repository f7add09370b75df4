#!/usr/bin/env python3
"""What streaming hints seem to gain by how much a cold rotation takes: `rotation.py rotation_4.csv rotation_32.csv…`, as Markdown.

Each file is the results.csv of a sweep of scripts/studies/rotation.yaml, whose name ends with its --rotation."""

import pathlib
import re
import sys

from axis_effect import passed_rows


def main():
    found, rotations = {}, []
    for path in map(pathlib.Path, sys.argv[1:]):
        told = re.search(r"_(\d+)\.csv", path.name)
        if told is None:
            sys.exit(f"rotation: {path}: its name does not end with the rotation, as in rotation_32.csv")
        rotations.append(int(told[1]))
        for row in passed_rows([str(path)]):
            shape = int(row["rows"]), int(row["cols"])
            found.setdefault(shape, {}).setdefault(rotations[-1], {})[row["load_hint"]] = float(row["p50_us"])
    if not found:
        sys.exit("rotation: nothing was measured")
    rotations.sort()
    print(f"| forward M×N | {' | '.join(f'{n} times the L2' for n in rotations)} |\n|---|{'--:|' * len(rotations)}")
    for (rows, cols), by_rotation in found.items():
        cells = []
        for n in rotations:
            plain, streaming = (by_rotation[n][hint] for hint in ("default", "streaming"))
            cells.append(f"{plain:.2f}, {streaming:.2f} ({100 * (streaming / plain - 1):+.1f} %)")
        print(f"| {rows}×{cols} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
