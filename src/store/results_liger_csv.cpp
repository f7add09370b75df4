// liger.csv: Liger-Kernel's benchmark rows (columns, units and the text of a configuration as in its
// benchmark/scripts/utils.py and benchmark/data/all_benchmark_data.csv), so that its plots read ours.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_stream.h"
#include "support/atomic_file.h"
#include "support/csv.h"

namespace normtune {
namespace {

constexpr double liger_megabyte = 1024.0 * 1024.0;  // its "MB" are max_memory_allocated() / 2**20
constexpr double us_per_ms = 1000.0;

/// Liger's own {"M": …, "dtype": …, "eps": …} first and alone where nothing else differs from what it measures, so that
/// its rows and ours have equal text; then what makes the problem another one. Blanks as Python's json.dumps sets them.
std::string extra_config(const Problem& problem) {
    const Operation& operation = problem.operation;
    nlohmann::ordered_json config{{"M", problem.shape.rows}, {"dtype", row_of(operation.dtype).torch_name}, {"eps", operation.eps}};
    if (operation.casting != Casting::llama) {
        config["casting"] = casting_names.name(operation.casting);
    }
    if (operation.weight_dtype != operation.dtype) {
        config["weight_dtype"] = row_of(operation.weight_dtype).torch_name;
    }
    if (!operation.affine) {
        config["affine"] = false;
    }
    if (operation.offset != 0) {
        config["offset"] = operation.offset;
    }
    if (operation.in_place) {
        config["in_place"] = true;
    }
    if (operation.residual != ResidualPrecision::rounded) {
        config["residual"] = residual_names.name(operation.residual);
    }
    if (problem.shape.row_stride != problem.shape.cols) {
        config["row_stride"] = problem.shape.row_stride;
    }
    std::string out;
    for (const auto& [name, value] : config.items()) {
        out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", name, value.dump());
    }
    return '{' + out + '}';
}

/// "2026-11-20T23:59:59Z" as "2026-11-20 23:59:59".
std::string liger_time(std::string timestamp) {
    std::replace(timestamp.begin(), timestamp.end(), 'T', ' ');
    if (timestamp.ends_with('Z')) {
        timestamp.pop_back();
    }
    return timestamp;
}

struct Metric {
    std::string_view name;
    std::string_view unit;
    double p50;
    double p20;
    double p80;
};

std::string line(const Results& results, const Record& record, std::string_view provider, const Metric& metric) {
    constexpr int decimals = 7;  // 0.1 ns in ms; 0.1 bytes in MB
    return csv_line({std::string(record.problem.operation.descriptor().liger_kernel), std::string(provider),
                     std::string(mode_names.name(record.problem.operation.mode)), std::string(metric.name), std::string(metric.unit), "H",
                     "hidden size", std::to_string(record.problem.shape.cols), csv_number(metric.p50, decimals),
                     csv_number(metric.p20, decimals), csv_number(metric.p80, decimals), extra_config(record.problem), record.device,
                     liger_time(record.timestamp), "normtune " + results.environment.normtune_version});
}

}  // namespace

std::vector<const Record*> liger_winners(const std::vector<Record>& records) {
    const auto before = [](const Measurement& a, const Measurement& b) {
        const bool a_ranked = a.rank > 0;
        const bool b_ranked = b.rank > 0;
        return a_ranked != b_ranked ? a_ranked : a_ranked ? a.rank < b.rank : a.p50_us < b.p50_us;
    };
    std::vector<const Record*> out;
    std::unordered_map<std::string, std::size_t> places;
    for (const Record& record : records) {
        if (record.outcome != Outcome::passed || !record.measurement) {
            continue;
        }
        const auto [place, added] = places.try_emplace(fmt::format("{} {}", record.problem.key(), record.candidate.provider()), out.size());
        if (added) {
            out.push_back(&record);
        } else if (before(*record.measurement, *out[place->second]->measurement)) {
            out[place->second] = &record;
        }
    }
    return out;
}

void write_liger_csv(const Results& results, const std::string& path) {
    std::string out =
        csv_line({"kernel_name", "kernel_provider", "kernel_operation_mode", "metric_name", "metric_unit", "x_name", "x_label", "x_value",
                  "y_value_50", "y_value_20", "y_value_80", "extra_benchmark_config_str", "gpu_name", "timestamp", "liger_version"});
    std::unordered_set<std::string> with_copy;
    for (const Record* record : liger_winners(results.records)) {
        const std::string_view provider = record->candidate.provider();
        const Measurement& m = *record->measurement;
        const double limit_ms = m.limit_us / us_per_ms;
        const double memory = static_cast<double>(m.memory_bytes) / liger_megabyte;
        out += line(results, *record, provider, {"speed", "ms", m.p50_us / us_per_ms, m.p20_us / us_per_ms, m.p80_us / us_per_ms});
        if (m.limit_us > 0 && with_copy.insert(record->problem.key()).second) {
            out += line(results, *record, "copy", {"speed", "ms", limit_ms, limit_ms, limit_ms});
        }
        out += line(results, *record, provider, {"memory", "MB", memory, memory, memory});
    }
    write_file_atomically(path, out);
}

}  // namespace normtune
