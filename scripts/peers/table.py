#!/usr/bin/env python3
"""Sets normtune's winners and other libraries side by side, as a Markdown table, of sweeps with --provider.

    scripts/peers/table.py results.json… [--shapes 32768x128,8192x1024]
    scripts/peers/table.py results/h100/peers_providers*.json.gz --page     a whole page with the table in it, whose marks scripts/results knows

normtune's time is the median of the winner's fresh rounds in the finals, which had no part in choosing it. limit is its time over the
copy's in the sweep's own rounds, where both were measured side by side.
"""

import argparse
import gzip
import json
import math
import pathlib
import shlex
import statistics
import sys


def document_of(path):
    with gzip.open(path, "rt") if str(path).endswith(".gz") else open(path) as file:
        return json.load(file)


def measured_of(path):
    """(key, record, its measurement) of each that was measured to the end; a key is (op, mode, rows, cols)."""
    for record in document_of(path)["records"]:
        measured = record.get("measurement")
        if record["outcome"] == "passed" and measured:
            problem = record["problem"]
            yield (problem["op"], problem["mode"], problem["rows"], problem["cols"]), record, measured


def is_own(record):
    return record.get("provider", "normtune") == "normtune"


def is_dependent(measured):
    """Dependent launches leave out what plain ones wait for: they stand apart and compare with none (docs/measuring.md)."""
    return measured.get("limit_copy", "").endswith(".dependent")


def time_of(measured):
    """The median of the fresh rounds; p50 of what had none."""
    return statistics.median(measured["final_rounds_us"]) if measured["final_rounds_us"] else measured["p50_us"]


def best_of_normtune(*paths):
    """{(op, mode, rows, cols): (µs, times the copy's)} of the best of normtune's own: by rank, those that reached the finals first."""
    best, places = {}, {}
    for path in paths:
        for key, record, measured in measured_of(path):
            place = (measured["rank"] or math.inf, measured["p50_us"])
            if not is_own(record) or is_dependent(measured) or places.get(key, (math.inf, math.inf)) <= place:
                continue
            if measured["rank"] == 1 and not measured["final_rounds_us"]:
                raise ValueError(f"{path}: the winner of {record['problem']['key']} has no fresh rounds")
            places[key] = place
            best[key] = (time_of(measured), measured["limit_ratio"])
    return best


DEPENDENT = ", dependent"


def name_of(record, measured):
    return record["provider"] + (DEPENDENT if is_dependent(measured) else "")


def providers_of(*paths):
    """{(op, mode, rows, cols): {provider: µs}} of other providers in the same sweeps, of each its best kernel."""
    peers = {}
    for key, record, measured in (found for path in paths for found in measured_of(path)):
        if not is_own(record):
            row = peers.setdefault(key, {})
            name = name_of(record, measured)
            row[name] = min(row.get(name, math.inf), time_of(measured))
    return peers


def table(best, peers, shapes=None):
    """Lines of Markdown: one a shape and mode that both have (of `shapes`, where given), then geometric means by op and mode."""
    names = sorted({name for row in peers.values() for name in row})
    lines = ["| op | mode | M×N | normtune µs | limit | " + " | ".join(names) + " | fastest peer / normtune |",
             "|---|---|---|---|---|" + "---|" * (len(names) + 1)]
    ratios = {}
    for key in best:
        others = peers.get(key, {})
        alike = [us for name, us in others.items() if not name.endswith(DEPENDENT)]
        op, mode, rows, cols = key
        if not alike or (shapes and f"{rows}x{cols}" not in shapes):
            continue
        ours, limit = best[key]
        ratio = min(alike) / ours
        ratios.setdefault((op, mode), []).append(ratio)
        bound = f"{limit:.2f}" if limit else "-"  # no copy could be measured
        cells = [f"{others[name]:.2f}" if name in others else "" for name in names]
        lines.append(f"| {op} | {mode} | {rows}×{cols} | {ours:.2f} | {bound} | " + " | ".join(cells) + f" | {ratio:.2f}× |")
    lines.append("")
    for (op, mode), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        lines.append(f"{op} {mode}: geometric mean {mean:.2f}× the fastest peer, least {min(values):.2f}×, "
                     f"over {len(values)} shapes.")
    return lines


def command_of(document):
    """As another user would type it."""
    words = iter(document["command"][1:])
    kept = ["normtune"]
    for word in words:
        if word in ("--out", "--python"):
            next(words, None)
        elif word != "--quiet":
            kept.append(word)
    return shlex.join(kept)


def page(paths, lines):
    """The table with what measured it. scripts/results has the files unpacked, by their bare names."""
    documents = [document_of(path) for path in paths]
    first = documents[0]["environment"]
    names = [("h200/" if "results/h200/" in str(path) else "") + pathlib.Path(path).name.removesuffix(".gz") for path in paths]
    command = f"scripts/peers/table.py {' '.join(names)}"
    versions = list(dict.fromkeys(version for document in documents for version in document["environment"].get("providers", [])))
    dtypes = ", ".join(sorted({record["problem"]["dtype"] for document in documents for record in document["records"]}))
    device = first["device"]
    driver = f", driver {device['driver']}" if device.get("driver") else ""
    return [f"# normtune's best beside other libraries, {device['name']}, {dtypes}", "", "```sh",
            *[f"{command_of(document)}   # {name}" for document, name in zip(documents, names)],
            f"{command}   # this table", "```", "",
            f"{', '.join(versions) or 'No other library'}; {device['name']}{driver}, normtune {first['source_revision'] or 'of no committed revision'}.", "",
            "All in the same rounds: cold inputs, rotating outputs, verified against float64 (docs/providers.md). Median µs of the fresh rounds of the finals, or of",
            "all rounds of what did not reach them; limit: normtune's time over that of a copy of the same bytes. Where files have a fused forward both with the",
            "sum rounded and in fp32, the faster one of each counts.", "", f"<!-- made by: {command} -->", *lines, "<!-- made end -->"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="normtune's results.json (or .json.gz), one or several")
    parser.add_argument("--page", action="store_true", help="a whole page: what was measured, with what, and the table")
    parser.add_argument("--shapes", metavar="MxN,…", help="these alone, and no means")
    arguments = parser.parse_args()
    shapes = arguments.shapes.split(",") if arguments.shapes else None
    if arguments.page and shapes:
        parser.error("--page does not take --shapes")
    try:
        lines = table(best_of_normtune(*arguments.files), providers_of(*arguments.files), shapes)
        if arguments.page:
            lines = page(arguments.files, lines)
    except (OSError, KeyError, ValueError) as error:
        parser.error(f"not results of a sweep: {error}")
    print("\n".join(line for line in lines if line.startswith("|")) if shapes else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
