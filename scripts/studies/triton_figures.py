"""The figures of the studies' sections on Triton's machine code."""

import triton_pairs
from figure_base import figure, percent, span


def rows(files, study):
    return files.passed(f"triton_{study}.csv")


def pairs(files, study, tunable, provider=None, problem=None):
    """(same code, ratio of p50) of the pairs that differ in this tunable alone."""
    return [pair for (name, of, what, _, _), found in triton_pairs.pairs(rows(files, study)).items()
            if what == tunable and provider in (None, name) and problem in (None, of) for pair in found]


def best(files, study, provider, problem, **tunables):
    """Least p50 in µs with these values of tunables."""
    return min(float(row["p50_us"]) for row in rows(files, study) if row["provider"] == provider and triton_pairs.problem(row) == problem
               and tunables.items() <= triton_pairs.tunables(row["config"]).items())


def against_normtune(files, study, provider, problem):
    """Its best over normtune's of the same sweep."""
    return best(files, study, provider, problem) / best(files, study, "normtune", problem)


where = "triton_where_row", "triton_where_tiled"


@figure
def liger_1153__triton_same(files):
    found = pairs(files, "liger_1153", "WHERE")
    return f"{sum(same for same, _ in found)} of {len(found)}"


@figure
def liger_1153__triton_row(files):
    return span([ratio for _, ratio in pairs(files, "liger_1153", "WHERE", where[0])], "{:.2f}")


for cols, problem in ((17389, "forward 29x17389"), (16384, "forward 4096x16384")):
    def most(files, problem=problem):
        return f"{max(ratio for _, ratio in pairs(files, 'liger_1153', 'WHERE', where[1], problem)):.2f} times"

    def best_loss(files, problem=problem):
        times = [best(files, "liger_1153", where[1], problem, WHERE=value) for value in (0, 1)]
        return percent(times[1] / times[0] - 1, 1)

    for function, name in ((most, "most"), (best_loss, "best")):
        function.__name__ = f"liger_1153__triton_tiled_{cols}_{name}"
        figure(function)


for cols in (1024, 4096, 16384):
    def gain(files, problem=f"forward 2048x{cols}"):
        one, *more = (best(files, "liger_1100", "triton_block_rows", problem, BLOCK_M=value) for value in (1, 2, 4))
        return percent(1 - min(more) / one)

    gain.__name__ = f"liger_1100__triton_rows_{cols}"
    figure(gain)


@figure
def liger_1100__triton_against(files):
    return span([against_normtune(files, "liger_1100", "triton_block_rows", f"forward 2048x{cols}") for cols in (1024, 4096, 16384)], "{:.2f}")


@figure
def te_615__triton_rows_short(files):
    times = [best(files, "te_615", "triton_serial_forward", "forward 32768x128", ROWS=value) for value in (1, 8)]
    return f"{times[0] / times[1]:.1f} times"


@figure
def te_615__triton_rows_long(files):
    one, *more = (best(files, "te_615", "triton_serial_forward", "forward 8192x4096", ROWS=value) for value in (1, 2, 4, 8, 16))
    return span([100 * (time / one - 1) for time in more], "{:.0f}") + " %"


for mode, problem in (("forward", "forward 8192x4096"), ("backward", "backward 8192x4096"), ("backward_short", "backward 32768x128")):
    def hoisted(files, mode=mode.split("_")[0], problem=problem):
        times = [best(files, "te_615", f"triton_serial_{mode}", problem, HOISTED=value) for value in (0, 1)]
        return percent(abs(times[1] / times[0] - 1), 1)

    hoisted.__name__ = f"te_615__triton_hoisted_{mode}"
    figure(hoisted)


@figure
def te_615__triton_against(files):
    return span([against_normtune(files, "te_615", f"triton_serial_{problem.split()[0]}", problem)
                 for problem in ("forward 32768x128", "forward 8192x4096", "backward 32768x128", "backward 8192x4096")], "{:.1f}")


for cols in (1024, 4096):
    def runtime(files, problem=f"backward 2048x{cols}"):
        of = [against_normtune(files, f"liger_988_{name}", f"triton_rows_{name}", problem) for name in ("constexpr", "runtime")]
        return percent(1 - of[1] / of[0], 1)

    runtime.__name__ = f"liger_988__triton_runtime_{cols}"
    figure(runtime)
