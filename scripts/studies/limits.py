#!/usr/bin/env python3
"""The p50 of each problem's winner in results.csv files, which may be compressed, and how many times the copy's it is, as a table: `limits.py [--best-by COLUMN | --in-copies MIB] results.csv…`.

The winner is that of the sweep's finals (rank 1), the p50 that of all its rounds. With --best-by, of a column of the configuration (grid, staging, cluster, …), instead the
least p50 of each of its values, in a column of the table each; `--best-by file` has one for each file.
With --in-copies, of problems whose tensors have MIB MiB and more, and beside what a copy of the op's own tensors takes: how many times 1, 1.5, 2 and 2 copies of one tensor (forward, backward
and the fused ones), the copy that a forward of the same shape has in the same file. Each of those begins a launch of its own, which the op and the copy of all of its tensors do once.
Where a row's fastest takes less than 10 µs, `floor` is what an empty launch took beside it, in µs: as much of these times is no kernel's. Without such a row there is no such column.
"""

import argparse
import pathlib
import sys

from axis_effect import passed_rows

COPIES = {("rms_norm", "forward"): 1, ("rms_norm", "backward"): 1.5, ("fused_add_rms_norm", "forward"): 2, ("fused_add_rms_norm", "backward"): 2}
SHORT_US = 10  # below it a launch is a part of a time that counts (docs/measuring.md)


def passed(paths):
    for path in paths:
        for row in passed_rows([path]):
            if float(row["limit_us"] or 0) > 0:
                yield {**row, "file": pathlib.Path(path).name.partition(".")[0]}


def cell(row):
    return f"{float(row['p50_us']):.2f} ({float(row['limit_ratio']):.2f})" if row else ""


def floor(of_problem):
    """Beside the fastest, where it is short."""
    fastest = min(of_problem.values(), key=lambda row: float(row["p50_us"]))
    return f"{float(fastest['floor_us']):.2f}" if float(fastest["p50_us"]) < SHORT_US and fastest["floor_us"] else ""


def print_in_copies(best, least_mib):
    """Of the winners in `best`, by problem: their times in copies of one tensor, which forwards of the same file have."""
    copies = {(row["file"], rows, cols): float(row["limit_us"]) for (op, mode, rows, cols), of_problem in best.items() for row in of_problem.values() if (op, mode) == ("rms_norm", "forward")}
    print("| op, mode, M×N | MiB | µs | times the copy's | times so many copies of one tensor |\n|---|--:|--:|--:|--:|")
    for (op, mode, rows, cols), of_problem in best.items():
        row = of_problem["best"]
        mib = rows * cols * {"fp32": 4}.get(row["dtype"], 2) / 2**20
        one = copies.get((row["file"], rows, cols))
        if mib >= least_mib and one and (op, mode) in COPIES and (op, mode) != ("rms_norm", "forward"):
            times = float(row["p50_us"]) / (COPIES[op, mode] * one)
            print(f"| {'fused ' if op.startswith('fused') else ''}{mode} {rows}×{cols} | {mib:.3g} | {float(row['p50_us']):.2f} | {float(row['limit_ratio']):.2f} | {times:.3f} |")


def order(row, best_by):
    """By rank among winners, where the sweep came to its end."""
    ranked = not best_by and int(row["rank"] or 0) > 0
    return (0, int(row["rank"])) if ranked else (1, float(row["p50_us"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--best-by", metavar="COLUMN")
    parser.add_argument("--in-copies", type=float, metavar="MIB")
    arguments = parser.parse_args()
    best, values = {}, {}
    for row in passed(arguments.files):
        if row["provider"] not in ("", "normtune") and arguments.best_by != "provider":
            continue  # of normtune's own
        problem = (row["op"], row["mode"], int(row["rows"]), int(row["cols"]))
        value = row[arguments.best_by] if arguments.best_by else "best"
        values[value] = None
        of_problem = best.setdefault(problem, {})
        if value not in of_problem or order(row, arguments.best_by) < order(of_problem[value], arguments.best_by):
            of_problem[value] = row
    if not best:
        sys.exit("limits: nothing was measured")
    if arguments.in_copies is not None:
        return print_in_copies(best, arguments.in_copies)
    names = sorted(values, key=int) if all(str(value).isdigit() for value in values) else list(values)
    headers = [f"{arguments.best_by} {name}" for name in names] if arguments.best_by else ["µs (times the copy's)"]
    with_floor = any(floor(of_problem) for of_problem in best.values())
    headers += ["floor"] * with_floor + ["configuration"] * (not arguments.best_by)
    print(f"| op, mode, M×N | {' | '.join(headers)} |\n|---|{'---|' * len(headers)}")
    for (op, mode, rows, cols), of_problem in best.items():
        cells = [cell(of_problem.get(name)) for name in names]
        if with_floor:
            cells.append(floor(of_problem))
        if not arguments.best_by:
            cells.append(f"`{of_problem['best']['config']}`")
        print(f"| {'fused ' if op.startswith('fused') else ''}{mode} {rows}×{cols} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
