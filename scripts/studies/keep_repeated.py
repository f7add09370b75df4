#!/usr/bin/env python3
"""Puts the sweeps of a `normtune selfcheck` into a folder of tests/data/repeated: sweep-01.json, ….

    scripts/studies/keep_repeated.py results/run-20261120T235959Z-1f3a tests/data/repeated/h200_a

What judging does not read is left out: plans, verification, and how each kernel compiled, so that compare does not know that all are of the same code. The environment
(revision, device with its UUID and driver) and the command stay, without the paths of the machine that ran it. Exit code 2: no sweeps, or of no committed revision.
"""

import json
import pathlib
import sys

from plain_command import plain_command

LEFT_OUT = ("plans", "selection")
LEFT_OUT_OF_RECORDS = ("verification", "compile")


def kept(results, name):
    out = {key: value for key, value in results.items() if key not in LEFT_OUT}
    out["command"] = plain_command(results["command"], name)
    out["plans"] = []
    out["records"] = [{key: value for key, value in record.items() if key not in LEFT_OUT_OF_RECORDS} for record in results["records"]]
    return out


def text_of(results):
    """A record a line."""
    head = {key: value for key, value in results.items() if key != "records"}
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    records = ",\n".join(json.dumps(record, ensure_ascii=False) for record in results["records"])
    return "{\n" + "\n".join(lines) + '\n"records": [\n' + records + "\n]\n}\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = map(pathlib.Path, sys.argv[1:])
    sweeps = sorted(source.glob("sweep-*/results.json"), key=lambda path: int(path.parent.name.removeprefix("sweep-")))
    if not sweeps:
        print(f"keep_repeated: {source}: holds no sweeps of a selfcheck (sweep-1/results.json, …)", file=sys.stderr)
        return 2
    all_results = [json.loads(path.read_text()) for path in sweeps]
    revisions = {results["environment"]["source_revision"] for results in all_results}
    if len(revisions) > 1 or any(not revision or revision.endswith("-dirty") for revision in revisions):
        print(f"keep_repeated: {source}: of revisions {', '.join(sorted(revisions))}; measure with one committed build", file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    for number, results in enumerate(all_results, 1):
        (out / f"sweep-{number:02}.json").write_text(text_of(kept(results, out.name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
