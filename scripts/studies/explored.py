#!/usr/bin/env python3
"""What sweeps of wide spaces around single shapes found: per file the fastest of each way to sum dgamma up, and the winner.

    scripts/studies/explored.py results.csv[.gz] […]

Files are named MODE_MxN_SPACE.csv.gz after the operation, shape and space. p50 in µs, of the sweep's rounds; the winner is rank 1 of the
finals, whose fresh rounds decide: it need not have the least p50.
"""

import argparse
import csv
import gzip
import pathlib
import re
import sys

METHODS = (
    ("partials", lambda row: row["dgamma"] == "partials" and not deferred(row)),
    ("published", lambda row: row["dgamma"] == "published" and not deferred(row)),
    ("cooperative", lambda row: row["dgamma"] == "cooperative" and not deferred(row)),
    ("dx deferred", lambda row: deferred(row)),
)


def deferred(row):
    return int(row.get("deferred_steps") or 0) > 0


def rows_of(path):
    opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="")
    with opened as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "passed" and row["p50_us"]]
    if not rows:
        raise ValueError(f"{path}: nothing passed")
    return rows


def line(path):
    named = re.fullmatch(r"(fused_)?(forward|backward)_(\d+x\d+)_(\w+)\.csv(\.gz)?", path.name)
    if named is None:
        raise ValueError(f"{path}: not named MODE_MxN_SPACE.csv.gz")
    rows = rows_of(path)
    winner = [row for row in rows if row["rank"] == "1"]
    cells = [f"{named[1] or ''}{named[2]} {named[3]}".replace("_", " ").replace("x", "×"), named[4], str(len(rows))]
    for _, has in METHODS:
        times = [float(row["p50_us"]) for row in rows if has(row)]
        cells.append(f"{min(times):.2f}" if times and named[2] == "backward" else "")
    cells += [f"{float(winner[0]['p50_us']):.2f}", f"`{winner[0]['config']}`"] if winner else ["", "no finals"]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    files = sorted(parser.parse_args().files, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)])
    try:
        lines = [line(path) for path in files]
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"explored: {error}")
    print(f"| op, mode, M×N | space | measured | {' | '.join(f'`{name}`' if name != 'dx deferred' else name for name, _ in METHODS)} | rank 1 | its configuration |")
    print(f"|---|---|--:|{'--:|' * len(METHODS)}--:|---|")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
