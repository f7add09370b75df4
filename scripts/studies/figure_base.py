"""What figures are made with: their names, the rows of results.csv files, and how ratios are written."""

import csv
import functools

import axis_effect

FIGURES = {}


def figure(function):
    """A function of a Files object that gives the text of the figure `page.function`."""
    FIGURES[function.__name__.replace("__", ".")] = function
    return function


class Files:
    def __init__(self, folder):
        self.folder = folder

    @functools.lru_cache(maxsize=None)
    def passed(self, *names):
        """Passed and measured rows of results.csv files, by their unpacked names."""
        rows = []
        for name in names:
            with open(self.folder / name, newline="") as file:
                rows += [row for row in csv.DictReader(file) if row["outcome"] == "passed" and row["p50_us"]]
        if not rows:
            raise ValueError(f"nothing passed in {', '.join(names)}")
        return rows


def best(rows, **fixed):
    """Least p50 in µs of the rows with these values; None where there is none."""
    times = [float(row["p50_us"]) for row in rows if all(row[column] == text for column, text in fixed.items())]
    return min(times) if times else None


def by_problem(rows, keep=lambda row: True):
    groups = {}
    for row in rows:
        if keep(row):
            groups.setdefault(tuple(row[column] for column in axis_effect.PROBLEM), []).append(row)
    return list(groups.values())


def losses(rows, keep, **fixed):
    """Per problem: the best with these values over the best of all, less 1."""
    return [best(group, **fixed) / best(group) - 1 for group in by_problem(rows, keep) if best(group, **fixed)]


def percent(ratio, decimals=0):
    return f"{100 * ratio:.{decimals}f} %".replace("-0 %", "0 %")


def span(values, form):
    return f"{form.format(min(values))} to {form.format(max(values))}"


def percent_span(values, decimals=0):
    return f"{100 * min(values):.{decimals}f} % to {100 * max(values):.{decimals}f} %"


def whole(row, column):
    return int(row[column])
