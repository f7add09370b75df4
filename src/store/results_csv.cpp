// results.csv: one row a trial. The columns are one table here; docs/files.md describes each.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "space/axes.h"
#include "store/results.h"
#include "support/atomic_file.h"
#include "support/csv.h"

namespace normtune {
namespace {

struct Row {
    const Results& results;
    const Record& record;
    const Problem& problem = record.problem;
    const Operation& operation = record.problem.operation;
    /// Empty stand-ins where the trial was not compiled, not measured: their cells are empty.
    const std::optional<CompileInfo>& compile = record.compile;
    const std::optional<Measurement>& measured = record.measurement;
};

using Cell = std::string (*)(const Row&);
enum class Axes { none, leading, others };
struct Column {
    std::string_view name;
    Cell cell;
    Axes axes = Axes::none;  // columns that the table of axes has, in place of one
};

constexpr double mib = 1024.0 * 1024.0;
constexpr int us_decimals = 4;  // 0.1 ns: below any timer
constexpr int ratio_decimals = 4;
constexpr int gbps_decimals = 3;
constexpr int mib_decimals = 6;  // about a byte

std::string yes_no(bool value) {
    return value ? "true" : "false";
}

template <double Measurement::*member, int decimals>
std::string measured_cell(const Row& row) {
    return row.measured ? csv_number((*row.measured).*member, decimals) : "";
}

template <std::optional<int> CompileInfo::*member>
std::string compiled_cell(const Row& row) {
    return row.compile && (*row.compile).*member ? std::to_string(*((*row.compile).*member)) : "";
}

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ";"));
}

std::string tokens_cell(const Row& row) {
    std::vector<std::int64_t> tokens;
    for (const Use& use : row.problem.uses) {
        if (std::find(tokens.begin(), tokens.end(), use.tokens) == tokens.end()) {
            tokens.push_back(use.tokens);
        }
    }
    return fmt::format("{}", fmt::join(tokens, ";"));
}

/// The largest error over its bound, over all shapes and tensors that were verified: above 1 is incorrect.
std::string worst_over_bound_cell(const Row& row) {
    if (!row.record.verification) {
        return "";
    }
    double worst = 0;
    for (const ShapeCheck& shape : row.record.verification->shapes) {
        for (const TensorCheck& tensor : shape.tensors) {
            worst = std::max(worst, std::isnan(tensor.worst_over_bound) ? HUGE_VAL : tensor.worst_over_bound);
        }
    }
    return std::isinf(worst) ? "inf" : csv_number(worst, ratio_decimals);
}

constexpr Column columns[] = {
    // The fixed part: name and order are relied on.
    {"timestamp", [](const Row& row) { return row.record.timestamp; }},
    {"backend", [](const Row& row) { return std::string(backend_names.name(row.record.backend)); }},
    {"device", [](const Row& row) { return row.record.device; }},
    {"arch", [](const Row& row) { return row.record.arch; }},
    {"op", [](const Row& row) { return std::string(op_names.name(row.operation.op)); }},
    {"mode", [](const Row& row) { return std::string(mode_names.name(row.operation.mode)); }},
    {"dtype", [](const Row& row) { return std::string(dtype_names.name(row.operation.dtype)); }},
    {"casting", [](const Row& row) { return std::string(casting_names.name(row.operation.casting)); }},
    {"model", [](const Row& row) { return joined_models(row.problem.uses); }},
    {"site", [](const Row& row) { return joined_sites(row.problem.uses); }},
    {"rows", [](const Row& row) { return std::to_string(row.problem.shape.rows); }},
    {"cols", [](const Row& row) { return std::to_string(row.problem.shape.cols); }},
    {"config", [](const Row& row) { return row.record.candidate.key(); }},
    {"", nullptr, Axes::leading},
    {"outcome", [](const Row& row) { return std::string(outcome_names.name(row.record.outcome)); }},
    {"reason", [](const Row& row) { return row.record.reason; }},
    {"samples", [](const Row& row) { return row.measured ? std::to_string(row.measured->samples) : ""; }},
    {"p20_us", measured_cell<&Measurement::p20_us, us_decimals>},
    {"p50_us", measured_cell<&Measurement::p50_us, us_decimals>},
    {"p80_us", measured_cell<&Measurement::p80_us, us_decimals>},
    {"gbps", measured_cell<&Measurement::gbps, gbps_decimals>},
    {"limit_ratio", measured_cell<&Measurement::limit_ratio, ratio_decimals>},
    {"memory_mib",
     [](const Row& row) { return row.measured ? csv_number(static_cast<double>(row.measured->memory_bytes) / mib, mib_decimals) : ""; }},
    {"compile_ms", [](const Row& row) { return row.compile ? csv_number(row.compile->compile_ms, 3) : ""; }},

    // Ranking.
    {"rank", [](const Row& row) { return row.measured && row.measured->rank > 0 ? std::to_string(row.measured->rank) : ""; }},
    {"tied", [](const Row& row) { return row.measured ? yes_no(row.measured->tied) : ""; }},
    // The rest of the problem.
    {"tokens", tokens_cell},
    {"row_stride", [](const Row& row) { return std::to_string(row.problem.shape.row_stride); }},
    {"weight_dtype", [](const Row& row) { return std::string(dtype_names.name(row.operation.weight_dtype)); }},
    {"affine", [](const Row& row) { return yes_no(row.operation.affine); }},
    {"offset", [](const Row& row) { return std::to_string(row.operation.offset); }},
    {"in_place", [](const Row& row) { return yes_no(row.operation.in_place); }},
    {"residual", [](const Row& row) { return std::string(residual_names.name(row.operation.residual)); }},
    {"eps", [](const Row& row) { return fmt::format("{}", row.operation.eps); }},
    // The rest of the configuration.
    {"", nullptr, Axes::others},
    // How it was measured.
    {"rounds", [](const Row& row) { return row.measured ? std::to_string(row.measured->rounds.size()) : ""; }},
    {"launches_per_sample", [](const Row& row) { return row.measured ? std::to_string(row.measured->launches_per_sample) : ""; }},
    {"stop_reason", [](const Row& row) { return row.measured ? std::string(stop_reason_names.name(row.measured->stop_reason)) : ""; }},
    {"limit_us", measured_cell<&Measurement::limit_us, us_decimals>},
    {"floor_us", measured_cell<&Measurement::floor_us, us_decimals>},
    {"cold", [](const Row& row) { return row.measured ? yes_no(row.measured->cold) : ""; }},
    {"timer", [](const Row& row) { return row.measured ? row.measured->timer : ""; }},
    {"rotation_mib",
     [](const Row& row) { return row.measured ? csv_number(static_cast<double>(row.measured->rotation_bytes) / mib, mib_decimals) : ""; }},
    {"clock_mhz", [](const Row& row) { return row.measured && row.measured->clock_mhz ? csv_number(*row.measured->clock_mhz, 1) : ""; }},
    {"throttled_rounds",
     [](const Row& row) {
         return row.measured ? std::to_string(std::count_if(row.measured->rounds.begin(), row.measured->rounds.end(),
                                                            [](const Round& round) { return round.throttled; }))
                             : "";
     }},
    {"throttled_repeats", [](const Row& row) { return row.measured ? std::to_string(row.measured->throttled_repeats) : ""; }},
    {"throttle_reasons", [](const Row& row) { return row.measured ? joined(row.measured->throttle_reasons) : ""; }},
    // What the compiler and the verification said.
    {"code_hash", [](const Row& row) { return row.compile ? row.compile->code_hash : ""; }},
    {"from_cache", [](const Row& row) { return row.compile ? yes_no(row.compile->from_cache) : ""; }},
    {"registers", compiled_cell<&CompileInfo::registers>},
    {"spill_bytes", compiled_cell<&CompileInfo::spill_bytes>},
    {"shared_bytes", compiled_cell<&CompileInfo::shared_bytes>},
    {"occupancy",
     [](const Row& row) { return row.compile && row.compile->occupancy ? csv_number(*row.compile->occupancy, ratio_decimals) : ""; }},
    {"workspace_bytes", [](const Row& row) { return row.compile ? std::to_string(row.compile->workspace_bytes) : ""; }},
    {"programs", [](const Row& row) { return row.compile ? std::to_string(row.compile->programs) : ""; }},
    {"verified", [](const Row& row) { return row.record.verification ? yes_no(row.record.verification->passed) : ""; }},
    {"worst_over_bound", worst_over_bound_cell},
    {"device_id", [](const Row& row) { return row.record.device_id; }},
    {"driver", [](const Row& row) { return row.results.environment.device.driver; }},
    {"normtune_version", [](const Row& row) { return row.results.environment.normtune_version; }},
    {"repeat", [](const Row& row) { return row.record.repeat; }},
    {"provider", [](const Row& row) { return std::string(row.record.candidate.provider()); }},
};

template <typename Visit>
void for_each_axis(Axes axes, const Visit& visit) {
    for (const AxisRow& row : axis_table) {
        if (axes == (row.leading_column ? Axes::leading : Axes::others)) {
            visit(row);
        }
    }
}

}  // namespace

void write_results_csv(const Results& results, const std::string& path) {
    std::vector<std::string> fields;
    for (const Column& column : columns) {
        if (column.cell != nullptr) {
            fields.emplace_back(column.name);
        }
        for_each_axis(column.axes, [&](const AxisRow& axis) { fields.emplace_back(axis.name); });
    }
    std::string out = csv_line(fields);
    for (const Record& record : results.records) {
        const Row row{results, record};
        fields.clear();
        for (const Column& column : columns) {
            if (column.cell != nullptr) {
                fields.push_back(column.cell(row));
            }
            for_each_axis(column.axes, [&](const AxisRow& axis) {
                const Configuration* own = record.candidate.configuration();
                fields.push_back(own != nullptr ? axis_text(axis.axis, axis_value(*own, axis.axis)) : "");
            });
        }
        out += csv_line(fields);
    }
    write_file_atomically(path, out);
}

}  // namespace normtune
