#!/usr/bin/env python3
"""Runs the commands of golden files and compares everything they print.

A golden file is a transcript: lines that begin with "$ " are commands, run one after another in one new folder with
bash; below each stands its standard output, then "[stderr]" and its standard error where there is any, then "[exit N]"
where N is not 0. --update writes what the commands print now.
"""

import argparse
import difflib
import pathlib
import sys

import harness


def commands_of(transcript):
    return [line[2:] for line in transcript.splitlines() if line.startswith("$ ")]


def transcript_of(commands, normtune):
    out = []
    with harness.Folder(normtune) as folder:
        for command in commands:
            result = folder.run(command)
            out.append(f"$ {command}\n")
            out.append(harness.normalised(result.stdout.decode()))
            if result.stderr:
                out.append("[stderr]\n" + harness.normalised(result.stderr.decode()))
            if result.returncode != 0:
                out.append(f"[exit {result.returncode}]\n")
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--normtune", required=True, help="the executable")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = False
    for file in arguments.files:
        golden = file.read_text()
        actual = transcript_of(commands_of(golden), arguments.normtune)
        if arguments.update:
            file.write_text(actual)
        elif actual != golden:
            failed = True
            sys.stdout.writelines(
                difflib.unified_diff(golden.splitlines(True), actual.splitlines(True), str(file), "now")
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
