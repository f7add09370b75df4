// Writing. A value that is not finite becomes null: JSON has no other way to say so.
#include "trial/record_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "space/axes.h"
#include "support/utf8.h"
#include "trial/record_reader.h"

namespace normtune {
namespace {

using nlohmann::json;

json number(double value) {
    return std::isfinite(value) ? json(value) : json(nullptr);
}

json numbers(const std::vector<double>& values) {
    json out = json::array();
    for (const double value : values) {
        out.push_back(number(value));
    }
    return out;
}

json texts(const std::vector<std::string>& values) {
    json out = json::array();
    for (const std::string& value : values) {
        out.push_back(to_utf8(value));
    }
    return out;
}

template <typename T>
void put(json& out, const char* name, const std::optional<T>& value) {
    if (value) {
        out[name] = *value;
    }
}

void put(json& out, const char* name, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) {
        out[name] = *value;
    }
}

json to_json(const Shape& shape) {
    return {{"rows", shape.rows}, {"cols", shape.cols}, {"row_stride", shape.row_stride}};
}

json to_json(const TensorCheck& check) {
    return {{"tensor", tensor_names.name(check.role)},
            {"oracle", to_utf8(check.oracle)},
            {"worst_over_bound", number(check.worst_over_bound)},
            {"worst_error", number(check.worst_error)},
            {"worst_row", check.worst_row},
            {"worst_col", check.worst_col},
            {"unwritten", check.unwritten}};
}

json to_json(const ShapeCheck& check) {
    json out = to_json(check.shape);
    out["rows_checked"] = check.rows_checked;
    out["tensors"] = json::array();
    for (const TensorCheck& tensor : check.tensors) {
        out["tensors"].push_back(to_json(tensor));
    }
    return out;
}

}  // namespace

json to_json(const Problem& problem) {
    const Operation& operation = problem.operation;
    json uses = json::array();
    for (const Use& use : problem.uses) {
        uses.push_back({{"model", to_utf8(use.model)}, {"site", to_utf8(use.site)}, {"tokens", use.tokens}});
    }
    return {{"key", problem.key()},
            {"op", op_names.name(operation.op)},
            {"mode", mode_names.name(operation.mode)},
            {"dtype", dtype_names.name(operation.dtype)},
            {"casting", casting_names.name(operation.casting)},
            {"rows", problem.shape.rows},
            {"cols", problem.shape.cols},
            {"row_stride", problem.shape.row_stride},
            {"weight_dtype", dtype_names.name(operation.weight_dtype)},
            {"affine", operation.affine},
            {"offset", operation.offset},
            {"in_place", operation.in_place},
            {"residual", residual_names.name(operation.residual)},
            {"eps", number(operation.eps)},
            {"uses", std::move(uses)}};
}

json to_json(const Configuration& configuration) {
    json out;
    out["key"] = configuration.key();
    for (const AxisRow& row : axis_table) {
        const int value = axis_value(configuration, row.axis);
        out[std::string(row.name)] = row.domain.is_number(value) ? json(value) : json(axis_text(row.axis, value));
    }
    return out;
}

void add_candidate(json& out, const Candidate& candidate) {
    out["provider"] = candidate.provider();
    if (const Configuration* own = candidate.configuration()) {
        out["configuration"] = to_json(*own);
    } else {
        out["candidate"] = to_utf8(candidate.key());
    }
}

json to_json(const DeviceInfo& device) {
    return {{"backend", backend_names.name(device.backend)},
            {"name", to_utf8(device.name)},
            {"arch", to_utf8(device.arch)},
            {"driver", to_utf8(device.driver)},
            {"ordinal", device.ordinal},
            {"id", to_utf8(device.id)},
            {"warp_size", device.warp_size},
            {"compute_units", device.compute_units},
            {"max_threads_per_program", device.max_threads_per_program},
            {"shared_bytes_per_program", device.shared_bytes_per_program},
            {"cache_bytes", device.cache_bytes},
            {"memory_bytes", device.memory_bytes},
            {"has_async_copy", device.has_async_copy}};
}

json to_json(const CompileInfo& compile) {
    json out{{"compile_ms", number(compile.compile_ms)},
             {"from_cache", compile.from_cache},
             {"code_hash", to_utf8(compile.code_hash)},
             {"workspace_bytes", compile.workspace_bytes},
             {"programs", compile.programs}};
    put(out, "registers", compile.registers);
    put(out, "spill_bytes", compile.spill_bytes);
    put(out, "shared_bytes", compile.shared_bytes);
    put(out, "occupancy", compile.occupancy);
    return out;
}

json to_json(const Verification& verification) {
    json shapes = json::array();
    for (const ShapeCheck& check : verification.shapes) {
        shapes.push_back(to_json(check));
    }
    return {{"passed", verification.passed},
            {"reason", to_utf8(verification.reason)},
            {"seed", verification.seed},
            {"shapes", std::move(shapes)}};
}

json to_json(const Measurement& measurement) {
    json rounds = json::array();
    for (const Round& round : measurement.rounds) {
        rounds.push_back({{"median_us", number(round.median_us)}, {"samples", round.samples}, {"throttled", round.throttled}});
    }
    json out{{"rounds", std::move(rounds)},
             {"samples", measurement.samples},
             {"launches_per_sample", measurement.launches_per_sample},
             {"p20_us", number(measurement.p20_us)},
             {"p50_us", number(measurement.p50_us)},
             {"p80_us", number(measurement.p80_us)},
             {"gbps", number(measurement.gbps)},
             {"limit_us", number(measurement.limit_us)},
             {"limit_ratio", number(measurement.limit_ratio)},
             {"floor_us", number(measurement.floor_us)},
             {"memory_bytes", measurement.memory_bytes},
             {"rotation_bytes", measurement.rotation_bytes},
             {"cold", measurement.cold},
             {"timer", to_utf8(measurement.timer)},
             {"stop_reason", stop_reason_names.name(measurement.stop_reason)},
             {"throttled_repeats", measurement.throttled_repeats},
             {"throttle_reasons", texts(measurement.throttle_reasons)},
             {"rank", measurement.rank},
             {"tied", measurement.tied},
             {"final_rounds_us", numbers(measurement.final_rounds_us)}};
    put(out, "clock_mhz", measurement.clock_mhz);
    return out;
}

json to_json(const Environment& environment) {
    return {{"normtune_version", to_utf8(environment.normtune_version)},
            {"source_revision", to_utf8(environment.source_revision)},
            {"hostname", to_utf8(environment.hostname)},
            {"os", to_utf8(environment.os)},
            {"device", to_json(environment.device)},
            {"started", to_utf8(environment.started)},
            {"seed", environment.seed}};
}

json to_json(const Record& record) {
    json out{{"timestamp", to_utf8(record.timestamp)},
             {"backend", backend_names.name(record.backend)},
             {"device", to_utf8(record.device)},
             {"arch", to_utf8(record.arch)},
             {"device_id", to_utf8(record.device_id)},
             {"problem", to_json(record.problem)},
             {"outcome", outcome_names.name(record.outcome)},
             {"reason", to_utf8(record.reason)},
             {"repeat", to_utf8(record.repeat)}};
    add_candidate(out, record.candidate);
    if (record.compile) {
        out["compile"] = to_json(*record.compile);
    }
    if (record.verification) {
        out["verification"] = to_json(*record.verification);
    }
    if (record.measurement) {
        out["measurement"] = to_json(*record.measurement);
    }
    return out;
}

json to_json(const PlanSummary& plan) {
    json pruned = json::array();
    for (const PlanSummary::Pruned& rule : plan.pruned) {
        pruned.push_back({{"rule", to_utf8(rule.rule)}, {"reason", to_utf8(rule.reason)}, {"count", rule.count}});
    }
    json out{{"problem", to_utf8(plan.problem_key)}, {"points", plan.points}, {"kept", plan.kept}, {"pruned", std::move(pruned)}};
    if (plan.place) {
        out["place"] = *plan.place;
    }
    return out;
}

}  // namespace normtune
