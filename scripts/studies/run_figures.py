"""The figures of whole sweeps: README, results/README.md, results/h100/peers.md, docs/strategies.md and docs/history.md."""

import csv
import functools
import math
import statistics

import axis_effect
from figure_base import FIGURES, figure, best, percent, span

# README.md and results/h100/peers.md

def large_limit(files, mode):
    """The most of normtune's best, by rank, over the problems with tensors from 16 MiB (of bf16) on."""
    best_of = {}
    for row in files.passed("peers_providers.csv"):
        if row["provider"] == "normtune" and row["mode"] == mode and int(row["rows"]) * int(row["cols"]) * 2 >= 2**24 and row["rank"]:
            place = (int(row["rank"]), float(row["limit_ratio"]))
            problem = tuple(row[column] for column in axis_effect.PROBLEM)
            best_of[problem] = min(place, best_of.get(problem, place))
    return f"{max(limit for _, limit in best_of.values()):.2f}"


@figure
def peers__large_forward_limit(files):
    return large_limit(files, "forward")


@figure
def peers__large_backward_limit(files):
    return large_limit(files, "backward")


@figure
def quack__search_gain(files):
    """Of QuACK's backward, by p50."""
    rows = files.passed("quack_tuned.csv")
    heuristic, tuned = (best(rows, provider=name, mode="backward") for name in ("quack", "quack_tuned"))
    return percent(heuristic / tuned - 1, 1)


@figure
def quack__search_ahead(files):
    """Of normtune's forward, by p50."""
    rows = files.passed("quack_tuned.csv")
    return percent(best(rows, provider="normtune", mode="forward") / best(rows, provider="quack_tuned", mode="forward") - 1, 1)


def floors(files):
    """µs of an empty launch, by sweep of results/h100."""
    sweeps = ("qwen3", "llama3", "full_8192", "peers_providers", "qwen3_default", "qwen3_racing", "qwen3_deferred_cold", "qwen3_deferred", "budget_60s")
    return [sorted(float(row["floor_us"]) for row in files.passed(f"{name}.csv") if row["floor_us"]) for name in sweeps]


@figure
def peers__floor_medians(files):
    return span([of_sweep[len(of_sweep) // 2] for of_sweep in floors(files)], "{:.2f}") + " µs"


@figure
def peers__floor_least(files):
    return f"{min(of_sweep[0] for of_sweep in floors(files)):.2f} µs"


# docs/cuda.md and docs/torch.md

def floors_by_launches(files):
    """Least squares over all problems of two files: µs of an empty launch are a + b / launches of a sample."""
    found = {}
    for row in files.passed("h200/edges.csv", "h200/peers_providers.csv"):
        if row["floor_us"] and row["launches_per_sample"]:  # slower kernels have fewer than the problem's, and the empty launch
            problem = tuple(row[column] for column in axis_effect.PROBLEM)
            found[problem] = max(found.get(problem, (0, 0)), (int(row["launches_per_sample"]), float(row["floor_us"])))
    points = [(1 / launches, us) for launches, us in found.values()]
    mean_x, mean_y = (statistics.fmean(axis) for axis in zip(*points))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x, slope


@figure
def sample__launch(files):
    return f"{floors_by_launches(files)[0]:.2f} µs"


@figure
def sample__constant(files):
    return f"{floors_by_launches(files)[1]:.1f} µs"


@figure
def package__empty_less(files):
    """Of 1x1024 and 128x1024: how much less an empty launch took in the package's process than in the sweep's."""
    with open(files.folder / "h200/package_times.csv", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["cols"] == "1024" and row["rows"] in ("1", "128") and row["mode"] == "forward"]
    return span([float(row["sweep_empty_us"]) - float(row["package_empty_us"]) for row in rows], "{:.3f}") + " µs"


# results/README.md

@figure
def h100__racing_apart_median(files):
    return percent(sorted(apart(files))[len(apart(files)) // 2], 2)


@figure
def h100__racing_apart_most(files):
    return percent(max(apart(files)), 2)


@figure
def h100__racing_apart_count(files):
    return str(len(apart(files)))


@figure
def h100__racing_apart_most_of_all(files):
    return percent(max(apart(files, 0)), 1)


def apart(files, least_us=10):
    """|p50 of one sweep's winner over that of the other's, less 1|, of problems above `least_us` in the first."""
    def winners(name):
        return {tuple(row[column] for column in axis_effect.PROBLEM): float(row["p50_us"])
                for row in files.passed(name) if row["rank"] == "1"}
    first, second = winners("qwen3_deferred_cold.csv"), winners("qwen3_deferred.csv")
    return [abs(second[key] / us - 1) for key, us in first.items() if key in second and us > least_us]


# docs/strategies.md

def regrets(files, name):
    """Per problem: the exhaustive sweep's p50 of the configuration that won here over the exhaustive sweep's best."""
    exhaustive = {}
    for row in files.passed("qwen3_default.csv"):
        exhaustive.setdefault(tuple(row[column] for column in axis_effect.PROBLEM), {})[row["config"]] = float(row["p50_us"])
    won = {tuple(row[column] for column in axis_effect.PROBLEM): row["config"] for row in files.passed(name) if row["rank"] == "1"}
    return [exhaustive[problem][config] / min(exhaustive[problem].values()) for problem, config in won.items()
            if config in exhaustive[problem]]


def device_seconds(files, name):
    return sum(int(row["samples"]) * int(row["launches_per_sample"]) * float(row["p50_us"]) for row in files.passed(name)) / 1e6


@figure
def strategies__exhaustive_time(files):
    return f"{device_seconds(files, 'qwen3_default.csv'):.1f} s"


@figure
def strategies__racing_time(files):
    seconds = device_seconds(files, "qwen3_racing.csv")
    return f"{seconds:.1f} s ({100 * seconds / device_seconds(files, 'qwen3_default.csv'):.1f} %)"


@figure
def strategies__racing_regret(files):
    return percent(axis_effect.geometric_mean(regrets(files, "qwen3_racing.csv")) - 1, 2)


@figure
def strategies__racing_worst(files):
    return percent(max(regrets(files, "qwen3_racing.csv")) - 1, 1)


# docs/history.md

@functools.lru_cache(maxsize=None)
def in_both(files):
    """log(ratio) of the trials that two sweeps of the H100 have in common."""
    times = [{tuple(row[column] for column in (*axis_effect.PROBLEM, "config")): float(row["p50_us"]) for row in files.passed(name)}
             for name in ("qwen3.csv", "llama3.csv")]
    return [math.log(us / times[0][trial]) for trial, us in times[1].items() if trial in times[0]]


def deviation(values):
    """From the median distance to the median."""
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values) / statistics.NormalDist().inv_cdf(0.75)


@figure
def history__common(files):
    return f"{len(in_both(files)):,} trials"


@figure
def history__common_deviation(files):
    return percent(deviation(in_both(files)), 2)


@figure
def history__run_deviation(files):
    return percent(deviation(in_both(files)) / math.sqrt(2), 1)
