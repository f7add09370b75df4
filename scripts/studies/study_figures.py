"""The figures of results/studies, of normtune's own kernels."""

import functools
import itertools

import axis_effect
from figure_base import FIGURES, figure, best, by_problem, losses, percent, span, percent_span, whole

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
    return percent(max(abs(best(group, num_warps="8") / best(group, num_warps="16") - 1) for group in groups), 1)


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
    rows = [row for row in files.passed("peers_providers.csv")
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
                 if of_mode == mode and residency in residencies and cols == 2 * block], "{:.3f}")


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


def runtime_cost(files, grid):
    return percent_span([best - 1 for (of_grid, _), (_, best) in binding_effects(files).items() if of_grid == grid], 1).replace("-", "−")


@figure
def liger_988__runtime_cost_contiguous(files):
    return runtime_cost(files, "persistent_contiguous")


@figure
def liger_988__runtime_cost_strided(files):
    return runtime_cost(files, "persistent_strided")


@figure
def liger_988__pairs(files):
    return percent_span([mean - 1 for mean, _ in binding_effects(files).values()]).replace("-", "−")


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


def blocked(pass_):
    return lambda mode, rows, cols, block: mode == pass_ and block != "row"


def blocked_most(files, pass_, value):
    """The configuration that loses most by `value` against `masked`, all else equal, and on which shape, in which blocks."""
    groups = [(max(entry[4]), entry[0]) for entry in where_effects(files) if entry[1] == value and blocked(pass_)(*entry[0]) and entry[4]]
    most, (_, rows, cols, block) = max(groups)
    return f"{most:.2f} times ({rows}×{cols} in blocks of {block})"


def blocked_best(files, pass_, value):
    return percent_span([entry[3] - 1 for entry in of_where(files, blocked(pass_), value)], 1)


def guarded(files, pass_, whole_row):
    return [ratio for entry in of_where(files, lambda mode, rows, cols, block: mode == pass_ and (block == "row") == whole_row, "guard")
            for ratio in entry[2]]


for of_pass, way in itertools.product(("forward", "backward"), ("where", "guard")):
    FIGURES[f"liger_1153.{way}_blocked_{of_pass}"] = functools.partial(blocked_most, pass_=of_pass, value=way)
    FIGURES[f"liger_1153.{way}_blocked_best_{of_pass}"] = functools.partial(blocked_best, pass_=of_pass, value=way)


@figure
def liger_1153__guard_backward(files):
    return span(guarded(files, "backward", whole_row=False), "{:.2f}")


@figure
def liger_1153__guard_forward(files):
    return percent(1 - min(guarded(files, "forward", whole_row=True)), 1)
