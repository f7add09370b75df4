#!/usr/bin/env python3
"""Several `normtune fit --format json` with other shapes held out, together: each shape judged by ladders that did not see it.

    scripts/studies/held_out.py results.json [results.json …]

One shape in four is held out, four times over, so that each shape is held out once. NORMTUNE names the executable (build/bin/normtune).
"""

import argparse
import collections
import json
import math
import os
import pathlib
import subprocess
import sys

FOLDS = 4
PARTS = ("rule", "same_axes_ladder", "ladder")


def together(summaries):
    """Shapes judged, mean (geometric, of 1 + loss) and worst of summaries over different shapes; None: none was judged."""
    judged = [s for s in summaries if s["judged"]]
    count = sum(s["judged"] for s in judged)
    if not count:
        return None
    mean = math.expm1(sum(s["judged"] * math.log1p(s["mean_loss"]) for s in judged) / count)
    return count, mean, max(s["worst_loss"] for s in judged)


def loss(part, which):
    return "-" if part is None else f"{part[which]:.1%}".replace("-0.0%", "0.0%")


def table(folds):
    rivals = collections.defaultdict(lambda: collections.defaultdict(list))
    held_out = collections.defaultdict(list)
    steps = collections.defaultdict(list)
    for fold in folds:
        for fit in fold["fits"]:
            held_out[fit["operation"]].append(fit["held_out"])
            steps[fit["operation"]].append(fit["ladder"]["steps"] if fit["ladder"] else 0)
            for rival in fit["rivals"]:
                for part in PARTS:
                    rivals[fit["operation"], rival["name"]][part].append(rival[part])
    lines = ["| operation | steps | held-out shapes judged | mean | worst |", "|---|---|--:|--:|--:|"]
    for operation, summaries in held_out.items():
        all_of = together(summaries)
        lines.append(f"| {operation} | {min(steps[operation])} to {max(steps[operation])} | {all_of[0] if all_of else 0} of "
                     f"{sum(s['shapes'] for s in summaries)} | {loss(all_of, 1)} | {loss(all_of, 2)} |")
    lines += ["", "| operation | rule of thumb | judged | its mean | worst | ladder of the same axes: mean | worst | whole ladder: mean | worst |",
              "|---|---|--:|--:|--:|--:|--:|--:|--:|"]
    for (operation, name), parts in rivals.items():
        cells = [together(parts[part]) for part in PARTS]
        lines.append(f"| {operation} | {name} | {cells[0][0] if cells[0] else 0} | "
                     + " | ".join(f"{loss(cell, 1)} | {loss(cell, 2)}" for cell in cells) + " |")
    return lines


def fold(results, index):
    normtune = os.environ.get("NORMTUNE") or str(pathlib.Path(__file__).resolve().parents[2] / "build/bin/normtune")
    command = [normtune, "fit", *results, "--hold-out", f"{FOLDS}:{index}", "--format", "json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: some ladder does not reach the tolerance
        raise ValueError(done.stderr.strip())
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="results.json of sweeps on one device")
    arguments = parser.parse_args()
    try:
        print("\n".join(table([fold(arguments.results, index) for index in range(1, FOLDS + 1)])))
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"held_out: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
