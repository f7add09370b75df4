#!/usr/bin/env python3
"""Manual pages: roff has no complaint, and what a page says is what the options and the README say."""

import argparse
import pathlib
import re
import shutil
import sys

import harness

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
SOURCES = README.parent / "src"


def rendered(folder, command, faults):
    """The page as a terminal without bold shows it, on lines wide enough that nothing is broken."""
    result = folder.run(f"normtune man {command} > page && GROFF_NO_SGR=1 groff -ww -rLL=400n -K utf8 -T utf8 -man page | col -b")
    if result.returncode != 0 or result.stderr:
        faults.append(f"man {command}: {result.stderr.decode()}")
    return re.sub("[ \t]+", " ", result.stdout.decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    if not shutil.which("groff") or not shutil.which("col"):
        print("skipped: there is no groff, or no col")
        return 77
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        overview = rendered(folder, "", faults)
        commands = re.findall(r"^ normtune-(\w+)\(1\)$", overview, re.MULTILINE)
        wanted = re.findall(r"^  (\w+) +\w", folder.run("normtune --help").stdout.decode().split("Options:")[0], re.MULTILINE)
        if commands != wanted or len(commands) < 10:
            faults.append(f"normtune(1) has {commands}, help has {wanted}")
        codes = set(re.findall(r"(?:^|; )(\d+) ", README.read_text().split("Exit codes:")[1].split("\n\n")[0].replace("\n", " ").strip()))
        lacking = codes - set(re.findall(r"^ (\d+)(?: |$)", overview, re.MULTILINE))
        if lacking or len(codes) < 6:
            faults.append(f"exit codes of README {sorted(codes)}; normtune(1) lacks {sorted(lacking)}")
        read = {name for source in SOURCES.rglob("*.cpp") for name in re.findall(r'getenv\("(NORMTUNE_\w+)"\)', source.read_text())}
        lacking = read - set(re.findall(r"^ (NORMTUNE_\w+)(?: |$)", overview, re.MULTILINE))
        if lacking or len(read) < 6:
            faults.append(f"normtune(1) lacks variables that are read: {sorted(lacking)} of {sorted(read)}")
        for command in commands:
            page = rendered(folder, command, faults)
            text = folder.run(f"normtune {command} --help").stdout.decode()
            too_long = [line for line in text.partition("\nExample:\n")[0].splitlines() if len(line) > 80]
            if too_long:
                faults.append(f"help of {command}: beyond 80 columns: {too_long}")
            names = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE))
            lacking = [name for name in names if not re.search(rf"^ (?:-\w, )?{name}(?: |$)", page, re.MULTILINE)]
            # What is copied from a page has to be what was meant: hyphens, quotes, backslashes.
            lacking += [line.strip() for line in text.partition("\nExample:\n")[2].splitlines() if f"\n {line.strip()}\n" not in page]
            if lacking:
                faults.append(f"normtune-{command}(1) lacks {lacking}")
        result = folder.run("normtune man --all pages && ls pages | wc -l")
        if result.stdout.split() != [str(len(commands) + 1).encode()]:
            faults.append(f"--all wrote {result.stdout} pages: {result.stderr}")
        for command, message in (("man nothing", "COMMAND: unknown 'nothing'; known: sweep, "),
                                 ("man sweep --all x", "leave the command out"),
                                 ("man --all page/x", "cannot make the folder 'page/x': Not a directory")):
            result = folder.run(f"normtune {command}")
            if result.returncode != 2 or message not in result.stderr.decode():
                faults.append(f"{command}: exit code {result.returncode}, {result.stderr}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
