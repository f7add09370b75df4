#!/usr/bin/env python3
"""Refuses two types of one name in one namespace of src/: the program would have one's functions for both, and nothing says so.

A folder's files may be compiled together, so that the compiler sees such a pair in one folder alone.

    scripts/check_names.py [--root DIR]
"""

import argparse
import collections
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:template <.*> )?(?:struct|class|enum(?: class)?) (?:\w+\(\d+\) )?(\w+)(?: final)?(?: :.*)? ?\{")
OPENS = re.compile(r"^namespace ?([\w:]*) \{")
CLOSES = re.compile(r"^\}  // namespace")


def types(path):
    """(line, name) of each type that a file defines at the level of a named namespace."""
    namespaces = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := OPENS.match(line):
            namespaces.append(match.group(1))
        elif CLOSES.match(line):
            namespaces.pop()
        elif (match := TYPE.match(line)) and namespaces and "" not in namespaces:
            yield number, "::".join([*namespaces, match.group(1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    places = collections.defaultdict(list)
    for path in sorted((arguments.root / "src").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for line, name in types(path):
                places[name].append(f"{path.relative_to(arguments.root)}:{line}")
    wrong = [f"{at[1]}: {name} is defined in {at[0]}, too; give it another name" for name, at in places.items() if len(at) > 1]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"Names: good ({len(places)} types).")


if __name__ == "__main__":
    main()
