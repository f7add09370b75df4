"""Figures that stand in a page without a mark, for scripts/results: times, percentages, ratios."""

import re

CODE = re.compile(r"```.*?```|`(?:[^`\n]|\n(?!\n))*`", re.DOTALL)  # of a paragraph's lines
MEASURED = re.compile(r"(?<![\w.])\d[\d.,]* ?(?:%|(?:µs|ms|ns|s|min|times)\b)|(?<![\w.])\d[\d.]*[×x](?!\w)|(?<=\| )\d+\.\d+(?= \|)")
NOT_MEASURED = re.compile(r"<!-- not measured: (?P<figures>.+?) -->")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BEGINS = re.compile(r"#|\s*(?:[-*]|\d+\.) ")

LISTED = "What is not under the check"
NOT_KEPT = "](../results/README.md#what-is-not-under-the-check)"


def blanked(text, *marks):
    """Without these, line by line."""
    for mark in marks:
        text = mark.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    return text


def passages(text):
    """(number of its first line, its text) of each."""
    found, apart = [], True
    for number, line in enumerate(text.splitlines(), 1):
        of_table = line.lstrip().startswith("|") and found
        if line.strip() and not of_table and (apart or BEGINS.match(line)):
            found.append((number, []))
        if found:
            found[-1][1].append(line)
        apart = not line.strip() or line.lstrip().startswith("|")
    return [(number, "\n".join(lines)) for number, lines in found]


def figures(number, passage):
    """(line, figure) of what it measures, or seems to."""
    return [(line_number, found.group(0)) for line_number, line in enumerate(blanked(passage, COMMENT).splitlines(), number)
            for found in MEASURED.finditer(line)]


def strictly(name, text, marks):
    """What is wrong with a page whose figures all have marks."""
    return [f"{name}:{line}: '{figure}' is no figure that a file gives: mark it (CONTRIBUTING.md), or take it out"
            for line, figure in figures(1, blanked(text, *marks, CODE))]


def in_docs(name, text, marks, listed):
    """The same of a page of docs/; `listed` is what is said to be not under the check."""
    wrong = []
    for number, passage in passages(blanked(text, *marks, CODE)):
        found = figures(number, passage)
        if NOT_KEPT in passage:
            if f"(../{name}" not in listed:
                wrong.append(f"{name}:{number}: figures of no file, and results/README.md, \"{LISTED}\", does not say which: add a row that links to this page")
            found = []
        stated = [figure for mark in NOT_MEASURED.finditer(passage) for figure in mark.group("figures").split(", ")]
        wrong += [f"{name}:{number}: 'not measured: {figure}', and no such figure stands in this passage: take it out of the mark"
                  for figure in stated if figure not in [one for _, one in found]]
        wrong += [f"{name}:{line}: '{figure}' is no figure that a file gives: mark it, link to \"{LISTED}\" of results/README.md if it was "
                  "measured and not kept, or name it behind 'not measured:' (CONTRIBUTING.md)" for line, figure in found if figure not in stated]
    return wrong
