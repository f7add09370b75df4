#!/usr/bin/env python3
"""Feeds the corpus of bad input to the executable: one clear line on stderr, exit code 2, nothing on stdout, no file made.

Each folder of the corpus has an expected.txt, one case a line: name, tab, what the line on stderr must hold. A name is a
file of that folder, or in cli/ a command line (run with bash, in a folder that holds tests/cli/inputs).
"""

import argparse
import pathlib
import shlex
import sys

import harness

# How a file of each folder reaches the executable.
COMMANDS = {
    "shapes": "normtune plan --shapes {file} --space space.yaml --backend replay --replay-script replay.yaml",
    "spaces": "normtune plan --shapes shapes.yaml --space {file} --backend replay --replay-script replay.yaml",
    "studies": "normtune plan --study {file} --backend replay --replay-script replay.yaml",
    "replay": "normtune plan --shapes shapes.yaml --space space.yaml --backend replay --replay-script {file}",
    "hf": "normtune shapes --from-hf {file}",
    "results": "normtune compare {file} {file}",
    "policies": "normtune gate --baseline liger_before.csv --candidate liger_after.csv --policy {file}",
    "cli": "normtune {arguments}",
}


def cases_of(folder):
    for line in (folder / "expected.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, fragment = line.split("\t")
            yield name, fragment


def faults(folder, name, fragment, normtune):
    """What is wrong with the executable's answer: nothing, or lines that say it."""
    command = COMMANDS[folder.name].format(file=shlex.quote(str(folder / name)), arguments=name)
    with harness.Folder(normtune) as place:
        before = place.files()
        result = place.run(command)
        after = place.files()
    stderr = result.stderr.decode(errors="replace")
    if result.returncode != 2:
        yield f"exit code {result.returncode}, not 2"
    if stderr.count("\n") != 1 or not stderr.startswith("normtune: "):
        yield "stderr is not one line of normtune's"
    if fragment not in stderr:
        yield f"stderr lacks: {fragment}"
    if result.stdout:
        yield f"stdout is not empty: {result.stdout.decode(errors='replace')[:200]}"
    if after != before:
        yield f"files were made: {sorted(set(after) - set(before))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--normtune", required=True, help="the executable")
    parser.add_argument("--least", type=int, default=1, help="fail where the folders hold fewer cases")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    count = 0
    failed = 0
    for folder in arguments.folders:
        for name, fragment in cases_of(folder.resolve()):
            count += 1
            wrong = list(faults(folder.resolve(), name, fragment, arguments.normtune))
            if wrong:
                failed += 1
                print(f"{folder.name}: {name}")
                print("".join(f"    {line}\n" for line in wrong), end="")
    print(f"{count} cases, {failed} failed")
    return 1 if failed or count < arguments.least else 0


if __name__ == "__main__":
    sys.exit(main())
