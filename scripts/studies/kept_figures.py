"""The figures of what the shipped files hold, and of how long their commands took: results/README.md, results/studies, docs/strategies.md and
results/notes_gpu_kernels.md."""

import collections
import csv
import json
import pathlib

import explored
from figure_base import FIGURES, by_problem, figure, span

STUDIES = pathlib.Path(__file__).resolve().parent
MEASUREMENTS = json.loads((STUDIES / "measurements.json").read_text())
OUTCOMES = (("passed", "passed"), ("pruned", "pruned by their code"), ("unsupported", "unsupported"),
            ("incorrect", "incorrect"))


def outcomes(files, name):
    with open(files.folder / f"{name}.csv", newline="") as file:
        counts = collections.Counter(row["outcome"] for row in csv.DictReader(file))
    if set(counts) - {outcome for outcome, _ in OUTCOMES}:
        raise ValueError(f"{name}.csv has other outcomes: {', '.join(counts)}")
    return counts


def duration(seconds):
    minutes, rest = divmod(seconds, 60)
    return " ".join([f"{minutes} min"] * (minutes > 0) + [f"{rest} s"] * (rest > 0))


for one in MEASUREMENTS:
    if "took_s" in one:
        FIGURES[f"took.{one['name']}"] = lambda files, seconds=one["took_s"]: duration(seconds)
OF_H200 = [f"h200/{path.name.removesuffix('.csv.gz')}" for path in sorted((STUDIES.parents[1] / "results/h200").glob("*.csv.gz"))]
OF_OTHERS = ["clusters", "guards_before", "gamma_before_waiting", "short_backward_before"]
for name in [one["name"] for one in MEASUREMENTS if "writes" not in one] + OF_OTHERS + OF_H200:
    FIGURES[f"trials.{name.replace('/', '.')}"] = lambda files, name=name: ", ".join(
        f"{outcomes(files, name)[outcome]:,} {text}" for outcome, text in OUTCOMES if outcomes(files, name)[outcome])
    FIGURES[f"measured.{name}"] = lambda files, name=name: f"{outcomes(files, name)['passed']:,}"


@figure
def h100__problems(files):
    """Of both sweeps: what they share counts twice, for it was measured twice."""
    return str(sum(len(by_problem(files.passed(name))) for name in ("qwen3.csv", "llama3.csv")))


@figure
def h100__measured(files):
    return f"{len(files.passed('qwen3.csv', 'llama3.csv')):,}"


@figure
def liger_988__all_codes(files):
    return str(len({row["code_hash"] for row in files.passed("liger_988.csv")}))


@figure
def liger_988__compile_seconds(files):
    """Of those that no cache had, without the twentieth at either end."""
    seconds = sorted(float(row["compile_ms"]) / 1000 for row in files.passed("liger_988.csv") if row["from_cache"] == "false")
    cut = len(seconds) // 20
    return span(seconds[cut:len(seconds) - cut], "{:.1f}") + " s"


@figure
def trials__ab(files):
    with open(files.folder / "ab.csv", newline="") as file:
        return str(len(list(csv.DictReader(file))))


for name, device in (("trials.planted", "h100"), ("trials.h200.planted", "h200")):
    def planted(files, device=device):
        words = (files.folder / f"results/{device}/planted.md").read_text().splitlines()[-1].replace(":", ",").replace(";", ",").split(", ")
        return f"{words[1]}, {words[3]}"
    FIGURES[name] = planted


def package_times(files):
    return f"{len((files.folder / 'results/h200/package_times.csv').read_text().splitlines()) - 1} of each"


FIGURES["trials.h200.package_times"] = package_times


for warm in ("qwen3_deferred", "qwen3_racing"):
    seconds_of_it = next(one["took_s"] for one in MEASUREMENTS if one["name"] == warm)
    FIGURES[f"rate.{warm}"] = lambda files, name=warm, seconds=seconds_of_it: f"{outcomes(files, name)['passed'] / seconds:.0f} trials a second"


# results/notes_gpu_kernels.md: results/h100/explored, by its files and columns, in µs; and what an empty launch took beside `beside`

for path in sorted((STUDIES.parent.parent / "results/h100/explored").glob("*.csv.gz")):
    for method, has in explored.METHODS:
        name = path.name.removesuffix(".csv.gz")
        FIGURES[f"explored.{name}.{method.replace(' ', '_')}"] = lambda files, name=name, has=has: (
            f"{min(float(row['p50_us']) for row in files.passed(f'{name}.csv') if has(row)):.2f}")


@figure
def clusters__few_floor(files):
    return span([float(row["floor_us"]) for row in files.passed("clusters.csv") if row["provider"] == "few"], "{:.2f}") + " µs"
