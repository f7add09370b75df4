#!/usr/bin/env python3
"""Holds the includes of src/ against the list of folders in docs/architecture.md.

A folder may include files of its own and of the folders above it in that list; main.cpp may include any.
With --matrix it prints how often each folder includes each.

    scripts/check_layers.py [--matrix] [--root DIR]
"""

import argparse
import collections
import pathlib
import re
import sys

LIST_ROW = re.compile(r"^\| `(\w+)/` \|")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def layers(page):
    """The folders in the order of the page's list, the lowest first."""
    names = [match.group(1) for line in page.read_text().splitlines() if (match := LIST_ROW.match(line))]
    if not names:
        sys.exit(f"{page}: no row like '| `support/` | … |': the list of folders is missing")
    if len(set(names)) != len(names):
        sys.exit(f"{page}: a folder is listed twice")
    return names


def includes(source):
    """(file, line, included path) of each include of a file of the project's own."""
    for path in sorted(source.rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if match := INCLUDE.match(line):
                    yield path.relative_to(source), number, pathlib.PurePosixPath(match.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrix", action="store_true", help="print how often each folder includes each")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    source = arguments.root / "src"
    order = layers(arguments.root / "docs" / "architecture.md")
    rank = {name: index for index, name in enumerate(order)}
    wrong = []
    for folder in sorted({p.relative_to(source).parts[0] for p in source.glob("*/**/*.cpp")}):
        if folder not in rank:
            wrong.append(f"src/{folder}/: is not in the list of docs/architecture.md")
    counts = collections.Counter()
    for file, line, included in includes(source):
        if len(included.parts) < 2 or included.parts[0] not in rank:
            wrong.append(f'src/{file}:{line}: "{included}" is no file of a folder in the list; write "folder/file.h"')
            continue
        below = included.parts[0]
        above = file.parts[0] if len(file.parts) > 1 else None
        counts[above or "main.cpp", below] += 1
        if above in rank and rank[below] > rank[above]:
            wrong.append(f"src/{file}:{line}: {above}/ includes {included}, which is above it: "
                         f"{above}/ may use {', '.join(order[: rank[above]]) or 'nothing'}")
    if arguments.matrix:
        width = max(map(len, order)) + 1
        print(" " * width + "".join(f"{name:>{width}}" for name in order))
        for row in [*order, "main.cpp"]:
            print(f"{row:<{width}}" + "".join(f"{counts[row, name] or '':>{width}}" for name in order))
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"Layers: good ({sum(counts.values())} includes, {len(order)} folders).")


if __name__ == "__main__":
    main()
