#include "report/explanation.h"

#include <algorithm>

#include <fmt/format.h>

#include "devices/cpu/schedule.h"
#include "devices/cpu/traits.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/layout.h"
#include "space/common_limits.h"
#include "space/reproducibility.h"
#include "space/value_help.h"
#include "trial/kernel_folder.h"

namespace normtune {
namespace {

std::string count(std::int64_t number, std::string_view thing) {
    return fmt::format("{} {}{}", grouped(static_cast<std::uint64_t>(number)), thing, number == 1 ? "" : "s");
}

/// A part of a key, and the axes that it tells.
struct KeyPart {
    std::string text;
    std::span<const AxisRow> axes;
};

std::vector<KeyPart> parts_of(const Configuration& configuration) {
    const std::string key = configuration.key();
    std::string_view rest = key;
    std::vector<KeyPart> out;
    for (const AxisRow& first : axis_table) {
        const std::span<const AxisRow> axes = axes_of_part(first);
        const bool there = std::any_of(axes.begin(), axes.end(), [&](const AxisRow& row) {
            return axis_value(configuration, row.axis) != row.standard || row.key.place == AxisKey::Place::always;
        });
        if (first.key.place != AxisKey::Place::joined && there) {
            const std::size_t end = std::min(rest.find('.'), rest.size());
            out.push_back({std::string(rest.substr(0, end)), axes});
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return out;
}

std::string times(const std::array<std::int64_t, 3>& grid) {
    return grid[2] > 1   ? fmt::format("{}x{}x{}", grid[0], grid[1], grid[2])
           : grid[1] > 1 ? fmt::format("{}x{}", grid[0], grid[1])
                         : fmt::format("{}", grid[0]);
}

std::string how_launched(const gpu::Launch& launch) {
    std::string out;
    const auto add = [&](const std::string& what) { out += fmt::format("{}{}", out.empty() ? "" : ", ", what); };
    if (launch.in_clusters()) {
        add(fmt::format("in clusters of {}x{}x{}", launch.cluster[0], launch.cluster[1], launch.cluster[2]));
    }
    if (launch.cooperative) {
        add("cooperative: all programs resident at once");
    }
    if (launch.overlaps) {
        add("may begin before the launch ahead has ended");
    }
    return out;
}

std::string gpu_words(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const gpu::RowLayout layout = gpu::row_layout(c, problem, device);
    const gpu::GridShape grid = gpu::grid_shape(c, problem, device);
    std::string out =
        fmt::format("A program has {} in {}: {} of {} each{}.\n", count(layout.threads, "thread"), count(c.num_warps, "warp"),
                    count(layout.groups, "row"), count(c.threads_per_row, "thread"), layout.groups > 1 ? " side by side" : "");
    if (c.cluster > 1) {
        out += fmt::format("A row is spread over a cluster of {}, which exchange its sums through their shared memory.\n",
                           count(c.cluster, "program"));
    }
    if (c.tile_rows > 1) {
        out += fmt::format("Each group of threads holds {} rows at a time, so that a program takes {} in a step.\n", c.tile_rows,
                           count(layout.step_rows, "row"));
    }
    out += fmt::format("A thread reads {} bytes ({}) at a time, {} a row", layout.vector_bytes, count(layout.vector_elements, "element"),
                       layout.row_accesses == 1 ? "once" : fmt::format("{} times", layout.row_accesses));
    out += layout.chunks > 1 ? fmt::format(", in {} blocks of {} columns.\n", layout.chunks, c.block_size) : ".\n";
    const char* taker = c.cluster > 1 ? "cluster" : "program";
    out += fmt::format("The grid has {} for {}; a {} takes {} one after another at most.\n", count(grid.programs, taker),
                       count(problem.shape.rows, "row"), taker, count(serial_passes(c, problem, device), "step"));
    const std::int64_t beside = gpu::programs_beside(c, problem);
    if (beside > 0) {
        out += fmt::format("Beside them {} sum gamma's gradient, {} each.\n",
                           count(gpu::launch_counters(c, problem) * c.reduce_parts, "program"), count(c.reduce_cols, "column"));
    }
    out += fmt::format("That is {:.2f} programs a compute unit; of {} at most {} can be resident there.\n",
                       static_cast<double>(grid.programs * c.cluster + beside) / std::max(device.compute_units, 1),
                       count(layout.threads, "thread"), gpu::resident_programs(c, device));
    if (layout.slots > 0) {
        out += fmt::format("Shared memory has {} of {}{}.\n", count(layout.slots, "slot"), count(layout.step_rows, "row"),
                           layout.bulk         ? ", filled by bulk copies"
                           : layout.async_copy ? ", filled by asynchronous copies"
                                               : "");
    }
    return out;
}

std::string cpu_words(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const cpu::TileShape tile = cpu::tile_shape(c, device.warp_size);
    const cpu::Schedule schedule(c, problem.shape.rows, device.compute_units);
    return fmt::format(
        "A tile has {} side by side, each with {} in flight: {} at once.\n"
        "{} of {} for {} are taken by {}.\n",
        count(tile.rows, "row"), count(tile.vectors, "vector"), count(cpu::columns_at_once(c, problem.operation.dtype), "column"),
        count(schedule.programs, schedule.persistent() ? "persistent task" : "task"), count(c.rows_per_program, "row"),
        count(problem.shape.rows, "row"), count(device.compute_units, "core"));
}

/// What the table of axes says of the bits of its results.
std::string bits_words(const Configuration& configuration) {
    Problem problem;
    problem.operation.mode = Mode::backward;
    const std::string gpu = varies_from_run_to_run(configuration, problem, Backend::cuda);
    const std::string cpu = varies_from_run_to_run(configuration, problem, Backend::cpu);
    return fmt::format(
        "Rows have equal bits at any M among configurations of class {} (on a CPU: {}).\n"
        "dgamma {} from run to run{}{}.\n",
        row_class(configuration, Backend::cuda), row_class(configuration, Backend::cpu), gpu.empty() ? "has equal bits" : "varies",
        gpu.empty() ? "" : " (" + gpu + ")", cpu.empty() ? "" : "; on a CPU it varies (" + cpu + ")");
}

}  // namespace

std::vector<Section> explain_configuration(const Configuration& configuration) {
    Section section{configuration.key(), Table("part|axis|what it does"), ""};
    std::string others;
    for (const AxisRow& row : axis_table) {
        if (axis_value(configuration, row.axis) == row.standard && row.key.place == AxisKey::Place::further &&
            axes_of_part(row).size() == 1) {
            others += fmt::format("{}{} {}", others.empty() ? "" : ", ", row.name, axis_text(row.axis, row.standard));
        }
    }
    for (const KeyPart& part : parts_of(configuration)) {
        for (const AxisRow& row : part.axes) {
            const int value = axis_value(configuration, row.axis);
            const std::string number = row.domain.is_number(value) ? fmt::format("{}: ", value) : "";
            section.table.add({part.text, std::string(row.name), fmt::format("{}{}", number, value_help(row.axis, value))});
        }
    }
    section.note = others.empty() ? "" : fmt::format("At their defaults, which the key leaves out: {}.\n", others);
    section.note += bits_words(configuration);
    return {section};
}

std::vector<Section> explain_key(std::string_view identity) {
    const Candidate candidate = Candidate::parse(identity);
    Section section{
        std::string(identity), Table("tunable|>value"),
        fmt::format("A kernel of provider {}. Its tunables are its own: what they do is said in its folder.\n", candidate.provider())};
    for (const auto& [name, value] : tunables_of(candidate.key())) {
        section.table.add({name, value});
    }
    return {section};
}

Section explain_launches(std::string title, const gpu::LaunchPlan& plan) {
    Section section{std::move(title), Table("launch|>grid|>threads|>shared bytes|how"), ""};
    for (const gpu::Launch& launch : plan.launches) {
        section.table.add({launch.kernel, times(launch.grid), grouped(static_cast<std::uint64_t>(launch.threads())),
                           grouped(static_cast<std::uint64_t>(launch.shared_bytes)), how_launched(launch)});
    }
    section.note = plan.workspace_bytes > 0
                       ? fmt::format("Workspace: {} bytes.\n", grouped(static_cast<std::uint64_t>(plan.workspace_bytes)))
                       : std::string();
    return section;
}

Section explain_on(const Configuration& configuration, const Problem& problem, const DeviceInfo& device) {
    const std::string title = fmt::format("{} on {} ({})", problem.key(), device.name, device.arch);
    if (device.backend != Backend::cuda && device.backend != Backend::hip) {
        return {title, Table(), cpu_words(configuration, problem, device)};
    }
    Section section = explain_launches(title, gpu::launch_plan(configuration, problem, device));
    section.note = gpu_words(configuration, problem, device) + section.note;
    return section;
}

std::vector<Section> list_axes() {
    Section axes{
        "Axes", Table("axis|in a key|>default|values|what it says|bits"),
        "Parts of a key stand in this order; those of the first seven axes always, the others where they differ from the default.\n"};
    Section values{"Values with names", Table("axis|value|what it does"), ""};
    for (const AxisRow& row : axis_table) {
        const AxisRow* part = &row;
        while (part->key.place == AxisKey::Place::joined) {
            --part;
        }
        axes.table.add({std::string(row.name), part->key.prefix.empty() ? "the value" : key_form(*part), axis_text(row.axis, row.standard),
                        row.domain.wanted(), std::string(row.help), bits_help(row)});
        for (int value = 0; value < static_cast<int>(row.domain.names.size()); ++value) {
            values.table.add({std::string(row.name), axis_text(row.axis, value), std::string(value_help(row.axis, value))});
        }
    }
    return {axes, values};
}

}  // namespace normtune
