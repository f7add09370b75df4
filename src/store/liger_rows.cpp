#include "store/liger_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/csv.h"
#include "support/error.h"

namespace normtune {
namespace {

using nlohmann::json;

template <typename E, std::size_t N>
std::optional<E> member_of(const json& config, const char* name, const NameTable<E, N>& table) {
    const auto found = config.find(name);
    if (found == config.end() || !found->is_string()) {
        return std::nullopt;
    }
    return table.find(found->get_ref<const std::string&>());
}

std::optional<Dtype> dtype_of(const json& config, const char* name) {
    NameTable<Dtype, dtype_rows.size()> torch_names{};
    std::transform(dtype_rows.begin(), dtype_rows.end(), torch_names.names.begin(), [](const DtypeRow& row) { return row.torch_name; });
    return member_of(config, name, torch_names);
}

std::optional<Op> op_of(std::string_view kernel) {
    const auto found =
        std::find_if(op_registry.begin(), op_registry.end(), [&](const OpDescriptor& op) { return op.liger_kernel == kernel; });
    return found == op_registry.end() ? std::nullopt : op_names.find(found->name);
}

std::optional<std::int64_t> size_of(const json& config, const char* name) {
    const auto found = config.find(name);
    if (found == config.end() || !found->is_number_integer()) {
        return std::nullopt;
    }
    const auto value = found->get<std::int64_t>();
    return value >= 1 && value <= largest_size ? std::optional(value) : std::nullopt;
}

/// Older files sweep the columns (x is "H", the rows are "M"), newer ones the rows (x is "T", of "B" sequences each, or "BT", and the
/// columns are "hidden_size").
std::optional<Shape> shape_of(const LigerValue& value, const json& config) {
    const std::optional<double> x = csv_real(value.x_value);
    if (!x || !(*x >= 1 && *x <= static_cast<double>(largest_size)) || *x != std::floor(*x)) {
        return std::nullopt;
    }
    const auto swept = static_cast<std::int64_t>(*x);
    std::optional<std::int64_t> rows;
    std::optional<std::int64_t> cols;
    if (value.x_name == "H") {
        rows = size_of(config, "M");
        cols = swept;
    } else if (value.x_name == "T" || value.x_name == "BT") {
        const std::int64_t sequences = value.x_name == "T" ? size_of(config, "B").value_or(1) : 1;
        rows = swept <= largest_size / sequences ? std::optional(swept * sequences) : std::nullopt;
        cols = size_of(config, "hidden_size");
    }
    if (!rows || !cols) {
        return std::nullopt;
    }
    return Shape{*rows, *cols, size_of(config, "row_stride").value_or(*cols)};
}

/// The problem of normtune's that a row of Liger's RMSNorm benchmarks, or of our liger.csv, is about. Its default
/// casting is llama, which the benchmark leaves unsaid.
std::optional<Problem> problem_of(const LigerValue& value) {
    const std::optional<Op> op = op_of(value.kernel);
    const std::optional<Mode> mode = mode_names.find(value.mode);
    if (!op || !mode) {
        return std::nullopt;
    }
    const json config = json::parse(value.extra, nullptr, false);
    if (!config.is_object()) {
        return std::nullopt;
    }
    const std::optional<Shape> shape = shape_of(value, config);
    const std::optional<Dtype> dtype = dtype_of(config, "dtype");
    if (!shape || !dtype) {
        return std::nullopt;
    }
    Problem problem;
    problem.shape = *shape;
    problem.operation.op = *op;
    problem.operation.mode = *mode;
    problem.operation.dtype = *dtype;
    problem.operation.casting = member_of(config, "casting", casting_names).value_or(Casting::llama);
    problem.operation.weight_dtype = dtype_of(config, "weight_dtype").value_or(*dtype);
    problem.operation.affine = config.value("affine", json(true)) != json(false);
    problem.operation.offset = config.value("offset", json(0)) == json(1) ? 1 : 0;
    problem.operation.in_place = config.value("in_place", json(false)) == json(true);
    problem.operation.residual = member_of(config, "residual", residual_names).value_or(ResidualPrecision::rounded);
    return problem;
}

}  // namespace

void LigerRows::add(const LigerValue& value) {
    check(value);
    const bool speed = value.metric == "speed";
    if (!speed && value.metric != "memory") {
        return;  // Liger has other metrics, such as tflops
    }
    // "copy" of our own liger.csv is the limit of the problem, not a trial.
    const std::uint32_t problem = problem_index(value);
    const std::uint32_t origin = builder_.origin({builder_.shown(value.device), 0, 0, RowOrigin::Cold::unknown});
    const TextId provider = builder_.shown(value.provider);
    const std::string key = fmt::format("{}/{}/{}", problem, origin, provider);
    const auto [place, added] = places_.try_emplace(key, builder_.rows().rows.size());
    if (added) {
        ResultRow row;
        row.problem = problem;
        row.origin = origin;
        row.configuration = provider;
        row.line = value.line;
        builder_.rows().rows.push_back(row);
        taken_.push_back({});
    }
    std::int64_t& newest = speed ? taken_[place->second].speed : taken_[place->second].memory;
    const std::int64_t now = timestamp_number(value.timestamp);
    if (now < newest) {
        return;
    }
    newest = now;
    ResultRow& row = builder_.rows().rows[place->second];
    row.timestamp = std::max(row.timestamp, now);
    if (speed) {
        set_speed(row, value);
    } else {
        row.memory_mib = value.p50;
    }
}

ResultRows LigerRows::all() {
    share_limits();
    return builder_.take();
}

void LigerRows::check(const LigerValue& value) const {
    const bool speed = value.metric == "speed";
    const std::string_view wanted = speed ? "ms" : "MB";
    if ((speed || value.metric == "memory") && value.unit != wanted) {
        fail(value, fmt::format("{} in {}; {} is expected", value.metric, quoted_for_message(value.unit), wanted));
    }
    const double most = speed ? longest_us / 1e3 : largest_memory_mib;
    for (const double y : {value.p20, value.p50, value.p80}) {
        if (!std::isnan(y) && !(y >= 0 && y <= most && (y > 0 || !speed))) {
            fail(value, fmt::format("a {} of {} {}; a number {} and at most {} belongs there", value.metric, y, value.unit,
                                    speed ? "above 0" : "from 0", most));
        }
    }
}

void LigerRows::fail(const LigerValue& value, std::string_view message) const {
    throw InputError(builder_.name(), static_cast<int>(value.line), message);
}

void LigerRows::set_speed(ResultRow& row, const LigerValue& value) {
    row.p20_us = static_cast<float>(value.p20 * 1e3);
    row.p50_us = value.p50 * 1e3;
    row.p80_us = static_cast<float>(value.p80 * 1e3);
    const bool measured = !std::isnan(value.p50);
    row.outcome = measured ? Outcome::passed : Outcome::launch_failed;
    row.reason = builder_.text(measured ? "" : "the file has no time for it");
}

std::uint32_t LigerRows::problem_index(const LigerValue& value) {
    const std::string identity =
        fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", value.kernel, value.mode, value.x_name, value.x_value, value.extra);
    const auto found = problems_.find(identity);
    if (found != problems_.end()) {
        return found->second;
    }
    std::uint32_t index = 0;
    if (const std::optional<Problem> problem = problem_of(value)) {
        index = builder_.problem(*problem);
        ours_.insert(index);
    } else {
        RowProblem row;
        row.key = builder_.text(fmt::format("{}/{}/{}={}{}{}", value.kernel, value.mode.empty() ? "-" : value.mode, value.x_name,
                                            value.x_value, value.extra.empty() ? "" : "/", value.extra));
        row.key_any_casting = row.key;
        row.op = builder_.shown(value.kernel);
        row.mode = builder_.shown(value.mode);
        index = builder_.problem(row);
    }
    problems_.emplace(identity, index);
    return index;
}

void LigerRows::share_limits() {
    ResultRows& rows = builder_.rows();
    const std::optional<TextId> copy = rows.texts.find("copy");
    if (!copy) {
        return;
    }
    std::unordered_map<std::uint64_t, double> limits;
    const auto place = [](const ResultRow& row) { return (std::uint64_t{row.problem} << 32) | row.origin; };
    const auto is_limit = [&](const ResultRow& row) { return row.configuration == *copy && ours_.contains(row.problem); };
    for (const ResultRow& row : rows.rows) {
        if (is_limit(row)) {
            limits[place(row)] = row.p50_us;
        }
    }
    std::erase_if(rows.rows, is_limit);
    for (ResultRow& row : rows.rows) {
        if (const auto limit = limits.find(place(row)); limit != limits.end()) {
            row.limit_us = static_cast<float>(limit->second);
        }
    }
}

}  // namespace normtune
