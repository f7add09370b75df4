"""The figures that sentences of README, docs and results quote, each by a name, out of the files of results/ (scripts/results)."""

import csv
import functools
import importlib.util
import math
import pathlib
import statistics

import axis_effect
import triton_figures

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


def value(name, folder):
    if name not in FIGURES:
        raise KeyError(f"scripts/studies/figures.py has no figure of that name; it has {', '.join(sorted(FIGURES))}")
    return FIGURES[name](files_of(folder))


@functools.lru_cache(maxsize=None)
def files_of(folder):
    return Files(folder)


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


# results/studies/te_615.md

def te_forward(files):
    return files.passed("te_615_forward.csv")


def te_backward(files):
    return files.passed("te_615_backward.csv")


@figure
def te_615__short_rows_gain(files):
    groups = by_problem(te_forward(files), lambda row: row["cols"] == "128" and whole(row, "rows") >= 32768)
    return span([best(group, rows_per_program="1") / best(group) for group in groups], "{:.1f}") + " times"


@figure
def te_615__few_short_rows_gain(files):
    groups = by_problem(te_forward(files), lambda row: row["cols"] == "128" and row["rows"] == "8192")
    return f"{best(groups[0], rows_per_program='1') / best(groups[0], rows_per_program='2'):.1f} times"


@figure
def te_615__one_row_worst(files):
    return percent(max(losses(te_forward(files), lambda row: whole(row, "cols") >= 409, rows_per_program="1")), 1)


@figure
def te_615__sixteen_rows_worst(files):
    groups = by_problem(te_forward(files), lambda row: whole(row, "cols") >= 409 and row["rows"] == "1024")
    return f"{max(best(group, rows_per_program='16') / best(group, rows_per_program='1') for group in groups):.1f} times"


@figure
def te_615__one_warp_gain(files):
    rows = te_forward(files) + te_backward(files)
    groups = by_problem(rows, lambda row: row["cols"] == "128")
    return span([best(group, num_warps="4") / best(group, num_warps="1") for group in groups], "{:.1f}") + " times"


@figure
def te_615__wide_eight_against_sixteen(files):
    groups = by_problem(te_forward(files), lambda row: row["cols"] == "16384")
    return percent(max(abs(best(group, num_warps="8") / best(group, num_warps="16") - 1) for group in groups), 0)


@figure
def te_615__wide_one_warp_cost(files):
    return percent_span(losses(te_forward(files), lambda row: row["cols"] == "16384", num_warps="1"))


@functools.lru_cache(maxsize=None)
def gamma_means(files):
    """Mean ratio to gamma loaded after, by mode and shape, of pairs that differ in gamma alone."""
    found = axis_effect.effects(te_forward(files) + te_backward(files), "gamma", "after", ["mode", "rows", "cols"])
    return [axis_effect.geometric_mean(ratios) for _, _, _, _, ratios, _ in found if ratios]


@figure
def te_615__gamma_mean_span(files):
    gains = [1 - mean for mean in gamma_means(files)]
    return f"{100 * min(gains):.1f} % to {100 * max(gains):.1f} %".replace("-", "−")


@figure
def te_615__gamma_best_forward(files):
    groups = by_problem(te_forward(files))
    values = [best(group, gamma=place) for group in groups for place in ("after", "before", "hoisted")]
    worst = max(best(group, gamma=place) / best(group) - 1
                for group in groups for place in ("after", "before", "hoisted") if best(group, gamma=place))
    assert values
    return percent(worst)


@figure
def te_615__gamma_after_backward(files):
    return percent_span(losses(te_backward(files), lambda row: True, gamma="after"), 1)


@figure
def te_615__serial_limit(files):
    rows = [row for row in te_forward(files) if (row["rows"], row["cols"]) == ("32768", "128")]
    return f"{float(min(rows, key=lambda row: float(row['p50_us']))['limit_ratio']):.2f}"


@figure
def te_615__side_by_side_limit(files):
    rows = [row for row in files.passed("peers_normtune.csv")
            if (row["op"], row["mode"], row["rows"], row["cols"], row["rank"]) == ("rms_norm", "forward", "32768", "128", "1")]
    return f"{float(rows[0]['limit_ratio']):.2f}"


# results/studies/liger_1100.md

@functools.lru_cache(maxsize=None)
def block_effects(files):
    """(mode, residency, cols, block) → (pairs, of the same code, best against the best with a whole row)."""
    found = axis_effect.effects(files.passed("liger_1100.csv"), "block_size", "row", ["mode", "residency", "cols"])
    return {(*group[:2], int(group[2]), int(value)): (pairs, same, best) for group, value, pairs, same, _, best in found}


def two_blocks(files, mode, *residencies):
    return span([best for (of_mode, residency, cols, block), (_, _, best) in block_effects(files).items()
                 if of_mode == mode and residency in residencies and cols == 2 * block], "{:.2f}")


@figure
def liger_1100__one_chunk(files):
    whole_rows = [pairs for (_, _, cols, block), pairs in block_effects(files).items() if cols == block]
    if any(same != pairs for pairs, same, _ in whole_rows):
        raise ValueError("a block as wide as the row has other code")
    return f"{sum(pairs for pairs, _, _ in whole_rows):,}"


@figure
def liger_1100__two_blocks_shared(files):
    return two_blocks(files, "forward", "shared")


@figure
def liger_1100__two_blocks_reload(files):
    return two_blocks(files, "forward", "reload")


@figure
def liger_1100__two_blocks_backward(files):
    return two_blocks(files, "backward", "shared", "reload")


@functools.lru_cache(maxsize=None)
def row_effects(files):
    """(mode, cols, rows of a program) → best against the best of one row."""
    found = axis_effect.effects(files.passed("liger_1100.csv"), "rows_per_program", "1", ["mode", "cols"])
    return {(group[0], int(group[1]), int(value)): best for group, value, _, _, _, best in found}


@figure
def liger_1100__four_rows_1024(files):
    return percent(1 - row_effects(files)["backward", 1024, 4])


@figure
def liger_1100__two_rows_2048(files):
    return percent(1 - row_effects(files)["backward", 2048, 2])


@figure
def liger_1100__four_rows_1024_forward(files):
    return percent(row_effects(files)["forward", 1024, 4] - 1)


@figure
def liger_1100__two_rows_1024_forward(files):
    return percent(row_effects(files)["forward", 1024, 2] - 1)


# results/studies/liger_988.md

@functools.lru_cache(maxsize=None)
def binding_effects(files):
    """(grid, cols) → (mean of pairs, best against best) of rows bound at run time against rows bound at compile time, in registers."""
    rows = [row for row in files.passed("liger_988.csv") if row["residency"] == "registers"]
    found = axis_effect.effects(rows, "rows_binding", "constexpr", ["grid", "cols"])
    return {(group[0], int(group[1])): (axis_effect.geometric_mean(ratios), best) for group, _, _, _, ratios, best in found}


@figure
def liger_988__runtime_cost(files):
    return percent_span([best - 1 for (_, cols), (_, best) in binding_effects(files).items() if cols <= 5120], 1)


@figure
def liger_988__runtime_cost_8192(files):
    return percent(binding_effects(files)["persistent_contiguous", 8192][1] - 1, 1)


@figure
def liger_988__pairs(files):
    return percent_span([mean - 1 for mean, _ in binding_effects(files).values()])


def codes(files, binding):
    """Pairs of configuration and hidden size, compiles, and different machine codes, of the contiguous grid."""
    rows = [row for row in files.passed("liger_988.csv") if row["grid"] == "persistent_contiguous" and row["rows_binding"] == binding]
    return (len({(row["config"], row["cols"]) for row in rows}), len({(row["config"], row["cols"], row["rows"]) for row in rows}),
            len({row["code_hash"] for row in rows}))


@figure
def liger_988__constexpr_codes(files):
    pairs, compiles, different = codes(files, "constexpr")
    return f"{pairs} pairs of configuration and hidden size, {compiles} compiles to {different} different machine codes"


@figure
def liger_988__runtime_codes(files):
    pairs, _, different = codes(files, "runtime")
    return f"{pairs} to {different}"


# results/studies/liger_1153.md

@functools.lru_cache(maxsize=None)
def where_effects(files):
    rows = files.passed("liger_1153.csv", "liger_1153_odd.csv")
    return axis_effect.effects(rows, "reduction", "masked", ["mode", "rows", "cols", "block_size"])


def of_where(files, keep, value="where"):
    """(pairs, same code, ratios of the others, best against best) of groups (mode, rows, cols, block_size) that `keep` takes."""
    return [entry[2:] for entry in where_effects(files) if entry[1] == value and keep(*entry[0])]


EVEN = ("4096", "8192", "16384", "32768")
ODD = ("409", "3571", "17389")


def whole_even(mode, rows, cols, block):
    return cols in EVEN and block == "row"


def whole_odd(mode, rows, cols, block):
    return cols in ODD and block == "row"


@figure
def liger_1153__same_code(files):
    found = of_where(files, whole_even)
    return f"{sum(entry[1] for entry in found)} of {sum(entry[0] for entry in found)}"


@figure
def liger_1153__other_code(files):
    found = of_where(files, whole_even)
    return str(sum(entry[0] - entry[1] for entry in found))


@figure
def liger_1153__tail_means(files):
    return span([axis_effect.geometric_mean(entry[2]) for entry in of_where(files, whole_odd)], "{:.3f}")


@figure
def liger_1153__tail_best(files):
    return percent(max(abs(entry[3] - 1) for entry in of_where(files, whole_odd)), 1)


def narrow(cols):
    return lambda mode, rows, c, block: mode == "forward" and c == cols and block == "4096"


@figure
def liger_1153__blocked_17389_most(files):
    return f"{max(max(entry[2]) for entry in of_where(files, narrow('17389'))):.2f} times"


@figure
def liger_1153__blocked_17389_mean(files):
    return f"{axis_effect.geometric_mean(of_where(files, narrow('17389'))[0][2]):.2f}"


@figure
def liger_1153__blocked_17389_best(files):
    both = [of_where(files, narrow("17389"), value)[0][3] - 1 for value in ("where", "guard")]
    return percent_span(both, 1)


@figure
def liger_1153__blocked_32768_most(files):
    return f"{max(max(entry[2]) for entry in of_where(files, narrow('32768'))):.2f} times"


@figure
def liger_1153__blocked_32768_best(files):
    both = [of_where(files, narrow("32768"), value)[0][3] - 1 for value in ("where", "guard")]
    return percent(max(map(abs, both)), 1)


@figure
def liger_1153__guard_backward(files):
    ratios = [ratio for entry in of_where(files, lambda mode, rows, cols, block: mode == "backward" and block != "row", "guard")
              for ratio in entry[2]]
    return span(ratios, "{:.2f}")


@figure
def liger_1153__guard_forward(files):
    ratios = [ratio for entry in of_where(files, lambda mode, rows, cols, block: mode == "forward" and block == "row", "guard")
              for ratio in entry[2]]
    return percent(1 - min(ratios), 1)


# README.md and results/h100/peers.md

@functools.lru_cache(maxsize=None)
def peers(files):
    """{(op, mode, rows, cols): (µs, limit, fastest peer's µs)} by scripts/peers/table.py; of sweeps with providers, where there are some."""
    spec = importlib.util.spec_from_file_location("table", pathlib.Path(__file__).parent.parent / "peers" / "table.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    sweeps = sorted(files.folder.glob("peers_providers*.json"))
    others = table.providers_of(*sweeps) if sweeps else table.peers_of(files.folder / "peers.csv")
    return {key: (us, limit, min(time for name, time in others[key].items() if name != "copy"))
            for key, (us, limit) in table.best_of_normtune(*(sweeps or [files.folder / "peers_normtune.json"])).items() if key in others}


def of_peers(files, *op_mode):
    return [fastest / us for key, (us, _, fastest) in peers(files).items() if key[:2] == op_mode]


for op in ("rms_norm", "fused_add_rms_norm"):
    for mode in ("forward", "backward"):
        FIGURES[f"peers.{op}_{mode}"] = lambda files, op=op, mode=mode: f"{axis_effect.geometric_mean(of_peers(files, op, mode)):.2f}×"
        FIGURES[f"peers.{op}_{mode}_least"] = lambda files, op=op, mode=mode: f"{min(of_peers(files, op, mode)):.2f}×"


@figure
def peers__forward_behind(files):
    ratios = of_peers(files, "rms_norm", "forward") + of_peers(files, "fused_add_rms_norm", "forward")
    return percent(1 / min(ratios) - 1, 1)


def large_limit(files, mode):
    """Of tensors from 16 MiB (of bf16) on."""
    return f"{max(limit for key, (_, limit, _) in peers(files).items() if key[1] == mode and key[2] * key[3] * 2 >= 2**24):.2f}"


@figure
def peers__large_forward_limit(files):
    return large_limit(files, "forward")


@figure
def peers__large_backward_limit(files):
    return large_limit(files, "backward")


def floors(files):
    """µs of an empty launch, by sweep of results/h100."""
    sweeps = ("qwen3", "llama3", "full_8192", "peers_normtune", "qwen3_default", "qwen3_racing", "qwen3_deferred_cold", "qwen3_deferred", "budget_60s")
    return [sorted(float(row["floor_us"]) for row in files.passed(f"{name}.csv") if row["floor_us"]) for name in sweeps]


@figure
def peers__floor_medians(files):
    return span([of_sweep[len(of_sweep) // 2] for of_sweep in floors(files)], "{:.2f}") + " µs"


@figure
def peers__floor_least(files):
    return f"{min(of_sweep[0] for of_sweep in floors(files)):.2f} µs"


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


@figure
def strategies__budget_regret(files):
    return percent(axis_effect.geometric_mean(regrets(files, "budget_60s.csv")) - 1, 2)


@figure
def strategies__budget_worst(files):
    found = regrets(files, "budget_60s.csv")
    return f"{percent(max(found) - 1, 1)}, {sum(ratio > 1.03 for ratio in found)} problems over 3 %"


triton_figures.define(figure, percent, span)


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
