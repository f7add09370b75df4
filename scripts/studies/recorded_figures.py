"""The figures of repeated sweeps (tests/data/repeated) and of planted slowdowns (results/h100/ab.csv): docs/comparing.md, docs/ab.md."""

import collections
import csv
import functools
import json
import math
import statistics

from figure_base import figure, span


@functools.lru_cache(maxsize=None)
def repeated(files, device):
    """{trial: its measurements, a sweep each}."""
    trials = collections.defaultdict(list)
    for path in sorted((files.folder / "tests/data/repeated" / device).glob("sweep-*.json")):
        for record in json.loads(path.read_text())["records"]:
            if record["outcome"] == "passed":
                trials[record["problem"]["key"], record["configuration"]["key"]].append(record["measurement"])
    return dict(trials)


def usual_us(measurements):
    return statistics.median(one["p50_us"] for one in measurements)


def long_ones(files, device):
    return [measurements for measurements in repeated(files, device).values() if usual_us(measurements) >= 10]


@figure
def recorded__h100_trials(files):
    return str(len(repeated(files, "h100_a")))


@figure
def recorded__h100_long(files):
    return str(len(long_ones(files, "h100_a")))


@figure
def recorded__h100_short(files):
    both = [repeated(files, device) for device in ("h100_a", "h100_b")]
    return f"{sum(len(one) for one in both) - sum(len(long_ones(files, device)) for device in ('h100_a', 'h100_b'))} of the {sum(map(len, both))}"


@figure
def recorded__short_apart(files):
    """How far the six p50 of a short kernel lie apart."""
    apart = [1000 * (max(one["p50_us"] for one in measurements) - min(one["p50_us"] for one in measurements))
             for device in ("h100_a", "h100_b") for measurements in repeated(files, device).values() if usual_us(measurements) < 10]
    return span(apart, "{:.0f}") + " ns"


def between_runs(measurements):
    """Standard deviation of log(ratio) of two runs."""
    times = [math.log(one["p50_us"]) for one in measurements]
    return math.sqrt(2) * statistics.stdev(times)


def unstable(files):
    """Of trials that differ by more than three times what two runs are taken to differ by, and of the others."""
    of_all = [between_runs(measurements) for device in ("h100_a", "h100_b", "h100_c") for measurements in repeated(files, device).values()]
    return [one for one in of_all if one > 0.009], [one for one in of_all if one <= 0.009]


@figure
def recorded__unstable(files):
    few, others = unstable(files)
    return f"{len(few)} of {len(few) + len(others)}"


@figure
def recorded__unstable_apart(files):
    return span([100 * one for one in unstable(files)[0]], "{:.1f}") + " %"


@figure
def recorded__stable_apart(files):
    return f"{100 * statistics.median(unstable(files)[1]):.2f} %"


@figure
def recorded__third_trials(files):
    return str(len(repeated(files, "h100_c")))


@figure
def recorded__third_short(files):
    return str(len(repeated(files, "h100_c")) - len(long_ones(files, "h100_c")))


@figure
def recorded__h200_short(files):
    return " and ".join(str(len(repeated(files, device)) - len(long_ones(files, device))) for device in ("h200_a", "h200_b"))


@figure
def recorded__cpu_trials(files):
    return str(len(repeated(files, "cpu")))


@figure
def recorded__cpu_scatter(files):
    """Of the medians of a trial's rounds, in the median over trials and sweeps."""
    rounds = [[one["median_us"] for one in measurement["rounds"]] for measurements in repeated(files, "cpu").values() for measurement in measurements]
    return f"{100 * statistics.median(statistics.stdev(one) / statistics.mean(one) for one in rounds):.1f} %"


# docs/ab.md

@functools.lru_cache(maxsize=None)
def ab_pairs(files):
    with open(files.folder / "ab.csv", newline="") as file:
        return list(csv.DictReader(file))


@figure
def ab__kernels(files):
    times = [float(row["before_us"]) for row in ab_pairs(files)]
    return f"{len({row['pair'] for row in ab_pairs(files)})} pairs of {min(times):.1f} to {max(times):.0f} µs"


@figure
def ab__equal(files):
    equal = [row for row in ab_pairs(files) if float(row["planted"]) == 0]
    return f"{sum(row['verdict'] in ('slower', 'faster') for row in equal)} of {len(equal)}"
