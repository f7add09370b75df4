#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "judge/ladder.h"
#include "report/export/best_export.h"
#include "report/export/launch_code.h"
#include "support/version.h"

namespace normtune {
namespace {

/// Axes with a word in Triton, or in the Python around it; everything else is named in the module's head.
constexpr std::array<Axis, 7> expressed{Axis::num_warps,       Axis::rows_per_program, Axis::block_size,  Axis::grid,
                                        Axis::programs_per_sm, Axis::stages,           Axis::waves_per_eu};

constexpr std::string_view words = R"(num_warps, waves_per_eu  as in triton.Config.
num_stages               normtune's stages: rows in flight; Triton pipelines a loop's loads by it.
BLOCK_SIZE               columns of a pass; where a pass covers the whole row, the next power of two of the columns.
ROWS_PER_PROGRAM         rows that a program handles.
grid, programs_per_sm    what a launcher makes of its grid: per_row has a program a row, packed one for ROWS_PER_PROGRAM
                         rows, and persistent_… at most programs_per_sm for each multiprocessor, which go on with
                         further rows (strided: every programs-th group of rows; balanced: the same, with as few programs
                         as take no more groups each; contiguous: a run of neighbours).
)";

constexpr std::string_view functions = R"(

@dataclass(frozen=True)
class Launch:
    num_warps: int
    num_stages: int
    BLOCK_SIZE: int
    ROWS_PER_PROGRAM: int
    grid: str
    programs_per_sm: int
    waves_per_eu: int
    key: str  # normtune's configuration

    def programs(self, rows: int, multiprocessors: int) -> int:
        groups = -(-rows // self.ROWS_PER_PROGRAM)
        if not self.grid.startswith("persistent"):
            return groups
        most = min(groups, self.programs_per_sm * multiprocessors)
        return -(-groups // -(-groups // most)) if self.grid == "persistent_balanced" and groups else most


def _launch(entry, cols: int) -> Launch:
    num_warps, num_stages, block_size, rows_per_program, grid, programs_per_sm, waves_per_eu, key = entry
    block_size = block_size or 1 << max(0, cols - 1).bit_length()
    return Launch(num_warps, num_stages, block_size, rows_per_program, grid, programs_per_sm, waves_per_eu, key)


def _ratio(a: int, b: int) -> float:
    # Two as near have the same ratio to the last bit, which logarithms of it have not.
    return max(a, b) / min(a, b) if min(a, b) > 0 else math.inf


def best(op: str, mode: str, dtype: str, casting: str, rows: int, cols: int, offset: int = 0, row_stride: int = 0) -> Launch:
    """The winner of the shape, or of the nearest that was measured: first the nearest number of columns, then of rows,
    then the nearest row stride, all by the ratio, and the smaller of two as near. offset is what is added to gamma
    (Gemma: 1); row_stride is that of x, in elements, and 0 where its rows follow one another. KeyError: nothing of that
    op, mode, dtype, casting and offset was measured, with rows that follow one another or with rows that do not."""
    stride = row_stride or cols
    measured = WINNERS[op, mode, dtype, casting, offset, stride != cols]
    nearest = min(measured, key=lambda shape: (_ratio(shape[1], cols), _ratio(shape[0], rows), _ratio(shape[2], stride),
                                               shape[1], shape[0], shape[2]))
    return _launch(measured[nearest], cols)


def launches(op: str, mode: str, dtype: str, casting: str, cols: int, offset: int = 0, strided: bool = False) -> list:
    """What ever wins, at any number of rows, on the measured number of columns that is nearest; those alone that differ
    in a word of triton.Config. The rows on which each wins are left to the tuner."""
    measured = WINNERS[op, mode, dtype, casting, offset, strided]
    nearest = min((shape[1] for shape in measured), key=lambda n: (_ratio(n, cols), n))
    distinct = {}
    for shape, entry in sorted(measured.items()):
        if shape[1] == nearest:
            launch = _launch(entry, cols)
            words = (launch.num_warps, launch.num_stages, launch.BLOCK_SIZE, launch.ROWS_PER_PROGRAM, launch.waves_per_eu)
            distinct.setdefault(words, launch)
    return list(distinct.values())


def triton_configs(op: str, mode: str, dtype: str, casting: str, cols: int, offset: int = 0, strided: bool = False) -> list:
    """The same as triton.Config, for @triton.autotune: BLOCK_SIZE and ROWS_PER_PROGRAM are the kernel's constants."""
    import triton

    out = []
    for launch in launches(op, mode, dtype, casting, cols, offset, strided):
        constants = {"BLOCK_SIZE": launch.BLOCK_SIZE, "ROWS_PER_PROGRAM": launch.ROWS_PER_PROGRAM}
        if launch.waves_per_eu:
            constants["waves_per_eu"] = launch.waves_per_eu
        out.append(triton.Config(constants, num_warps=launch.num_warps, num_stages=launch.num_stages))
    return out
)";

/// "threads_per_row (8, 16, 32)": an axis without a word, and its values among the winners.
std::string unexpressed(const ExportedWinners& exported, Axis axis) {
    std::vector<int> values;
    for (const Record* record : exported.winners) {
        values.push_back(axis_value(*record->candidate.configuration(), axis));
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::string text;
    for (const int value : values) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", axis_text(axis, value));
    }
    return fmt::format("{} ({})", axis_names.name(axis), text);
}

std::string heading(const ExportedWinners& exported) {
    std::string remarks;
    for (const std::string& paragraph : exported.remarks) {
        remarks += harmless(paragraph) + "\n";
    }
    std::string out = fmt::format(
        "Generated by normtune {}: launches of the fastest configurations measured on\n{} ({}).\n{}\n{}\n"
        "The winners are kernels of normtune's own. What they also decide and a Triton launcher has no word for, with\n"
        "the values that win; a Triton kernel is as fast only where its compiler does as well:\n",
        version(), harmless(exported.device.name), harmless(exported.device.arch), remarks, words);
    for (const Axis axis : all_axes()) {
        if (std::find(expressed.begin(), expressed.end(), axis) == expressed.end()) {
            out += fmt::format("  {}\n", unexpressed(exported, axis));
        }
    }
    out += exported.left_out.text("the functions' arguments do not name it");
    return out;
}

std::string group_key(const Problem& problem) {
    const Operation& operation = problem.operation;
    return fmt::format("(\"{}\", \"{}\", \"{}\", \"{}\", {}, {})", op_names.name(operation.op), mode_names.name(operation.mode),
                       dtype_names.name(operation.dtype), casting_names.name(operation.casting), operation.offset,
                       is_strided(problem.shape) ? "True" : "False");
}

std::string entry(const Record& record) {
    const Configuration& c = *record.candidate.configuration();
    const std::string block = c.block_size == whole_row ? "None" : fmt::format("{}", c.block_size);
    return fmt::format("        ({}, {}, {}): ({}, {}, {}, {}, \"{}\", {}, {}, \"{}\"),\n", record.problem.shape.rows,
                       record.problem.shape.cols, record.problem.shape.row_stride, c.num_warps, c.stages, block, c.rows_per_program,
                       grid_names.name(c.grid), c.programs_per_sm, c.waves_per_eu, c.key());
}

}  // namespace

std::string winners_triton(const ExportedWinners& exported) {
    std::string out = fmt::format("\"\"\"{}\"\"\"\n\nimport math\nfrom dataclasses import dataclass\n\n", heading(exported));
    out += fmt::format("MEASURED_ON = \"{}\"  # the device of all these numbers\nMEASURED_ARCH = \"{}\"\n\n",
                       harmless(exported.device.name), harmless(exported.device.arch));
    out +=
        "# By op, mode, dtype, casting, offset, and whether x has a row stride of its own; then by (rows, cols, row stride of x):\n"
        "# num_warps, stages, block_size (None: the whole row), rows_per_program, grid, "
        "programs_per_sm,\n# waves_per_eu, configuration.\nWINNERS = {\n";
    std::string group;
    for (const Record* record : exported.winners) {
        if (const std::string its = group_key(record->problem); its != group) {
            out += fmt::format("{}    {}: {{\n", group.empty() ? "" : "    },\n", its);
            group = its;
        }
        out += entry(*record);
    }
    return out + fmt::format("    }},\n}}\n{}", functions);
}

}  // namespace normtune
