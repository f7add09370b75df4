// Reading. Members that this version does not know are ignored: a change that would be misread raises schema_version.
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "space/axes.h"
#include "support/error.h"
#include "trial/record_json.h"
#include "trial/record_reader.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();

Shape read_shape(const JsonReader& in) {
    Shape shape;
    shape.rows = in.at("rows").whole(1);
    shape.cols = in.at("cols").whole(1);
    shape.row_stride = in.at("row_stride").whole(shape.cols);
    // The widest type is 4 bytes; a tensor larger than an address space would overflow every sum made of it.
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(shape.rows, shape.row_stride, &elements) || elements > (std::int64_t{1} << 56)) {
        in.fail(fmt::format("{} rows of stride {} are more elements than any tensor has", shape.rows, shape.row_stride));
    }
    return shape;
}

Use read_use(const JsonReader& in) {
    return {in.at("model").text(), in.at("site").text(), in.at("tokens").whole(0)};
}

Problem read_problem(const JsonReader& in) {
    Problem problem;
    Operation& operation = problem.operation;
    operation.op = in.at("op").name_of(op_names);
    operation.mode = in.at("mode").name_of(mode_names);
    operation.dtype = in.at("dtype").name_of(dtype_names);
    operation.casting = in.at("casting").name_of(casting_names);
    operation.weight_dtype = in.at("weight_dtype").name_of(dtype_names);
    operation.affine = in.at("affine").flag();
    operation.offset = in.at("offset").integer(0, 1);
    operation.in_place = in.at("in_place").flag();
    operation.residual = in.at("residual").name_of(residual_names);
    operation.eps = in.at("eps").number();
    problem.shape = read_shape(in);
    const JsonReader uses = in.at("uses");
    for (std::size_t i = 0; i < uses.size(); ++i) {
        problem.uses.push_back(read_use(uses.element(i)));
    }
    if (const auto key = in.find("key"); key && key->text() != problem.key()) {
        key->fail(fmt::format("{} does not fit the members beside it, which make '{}'", quoted_for_message(key->text()), problem.key()));
    }
    return problem;
}

void read_axis(const JsonReader& in, Configuration& configuration, Axis axis) {
    const AxisDomain& allowed = domain(axis);
    std::string text;
    if (!in.is_text() && allowed.names.empty()) {
        text = std::to_string(in.integer(allowed.least, allowed.most));
    } else {
        text = in.text();  // fails with the place where it is a number and a name is needed
    }
    const std::optional<int> value = axis_parse(axis, text);
    if (!value) {
        const std::string_view* first = allowed.names.data();
        in.fail(allowed.names.empty()
                    ? fmt::format("{} is not a value of {}; {}", quoted_for_message(text), axis_names.name(axis), allowed.wanted())
                    : fmt::format("unknown value {}{}", quoted_for_message(text), suggestion(text, first, first + allowed.names.size())));
    }
    set_axis(configuration, axis, *value);
}

Configuration read_configuration(const JsonReader& in) {
    Configuration configuration;
    for (const AxisRow& row : axis_table) {
        if (const auto value = in.find(row.name)) {  // absent: written before the axis was added
            read_axis(*value, configuration, row.axis);
        }
    }
    // The key also catches an axis that this version does not know and that makes a difference.
    if (const JsonReader key = in.at("key"); key.text() != configuration.key()) {
        key.fail(fmt::format("{} does not fit the axes beside it, which make '{}'", quoted_for_message(key.text()), configuration.key()));
    }
    return configuration;
}

/// Files from before there were other providers have the own configurations alone.
Candidate read_candidate(const JsonReader& record) {
    const auto provider = record.find("provider");
    if (!provider || provider->text() == own_provider) {
        return read_configuration(record.at("configuration"));
    }
    try {
        return Candidate::named(provider->text(), record.at("candidate").text());
    } catch (const InputError& error) {
        provider->fail(error.what());
    }
}

/// Empty in files from before it was recorded.
std::string text_if_there(const JsonReader& in, std::string_view name) {
    const auto value = in.find(name);
    return value ? value->text() : std::string();
}

DeviceInfo read_device_info(const JsonReader& in) {
    DeviceInfo device;
    device.backend = in.at("backend").name_of(backend_names);
    device.name = in.at("name").text();
    device.arch = in.at("arch").text();
    device.driver = in.at("driver").text();
    device.ordinal = in.at("ordinal").integer(0);
    device.id = text_if_there(in, "id");
    device.warp_size = in.at("warp_size").integer(1);
    device.compute_units = in.at("compute_units").integer(1);
    device.max_threads_per_program = in.at("max_threads_per_program").integer(1);
    device.shared_bytes_per_program = in.at("shared_bytes_per_program").whole(0);
    device.cache_bytes = in.at("cache_bytes").whole(0);
    device.memory_bytes = in.at("memory_bytes").whole(0);
    device.has_async_copy = in.at("has_async_copy").flag();
    return device;
}

std::optional<int> find_integer(const JsonReader& in, std::string_view name) {
    const auto value = in.find(name);
    return value ? std::optional<int>(value->integer(0)) : std::nullopt;
}

std::optional<double> find_number(const JsonReader& in, std::string_view name) {
    const auto value = in.find(name);
    return value ? std::optional<double>(value->number()) : std::nullopt;
}

CompileInfo read_compile_info(const JsonReader& in) {
    CompileInfo compile;
    compile.compile_ms = in.at("compile_ms").number();
    compile.from_cache = in.at("from_cache").flag();
    compile.code_hash = in.at("code_hash").text();
    compile.registers = find_integer(in, "registers");
    compile.spill_bytes = find_integer(in, "spill_bytes");
    compile.shared_bytes = find_integer(in, "shared_bytes");
    compile.occupancy = find_number(in, "occupancy");
    compile.workspace_bytes = in.at("workspace_bytes").whole(0);
    compile.programs = in.at("programs").whole(0);
    return compile;
}

TensorCheck read_tensor_check(const JsonReader& in) {
    TensorCheck check;
    check.role = in.at("tensor").name_of(tensor_names);
    check.oracle = in.at("oracle").text();
    check.worst_over_bound = in.at("worst_over_bound").number(infinity);
    check.worst_error = in.at("worst_error").number(infinity);
    check.worst_row = in.at("worst_row").whole(-1);
    check.worst_col = in.at("worst_col").whole(-1);
    check.unwritten = in.at("unwritten").whole(0);
    return check;
}

ShapeCheck read_shape_check(const JsonReader& in) {
    ShapeCheck check;
    check.shape = read_shape(in);
    check.rows_checked = in.at("rows_checked").whole(0);
    const JsonReader list = in.at("tensors");
    for (std::size_t i = 0; i < list.size(); ++i) {
        check.tensors.push_back(read_tensor_check(list.element(i)));
    }
    return check;
}

Verification read_verification(const JsonReader& in) {
    Verification verification;
    verification.passed = in.at("passed").flag();
    verification.reason = in.at("reason").text();
    verification.seed = in.at("seed").natural();
    const JsonReader shapes = in.at("shapes");
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        verification.shapes.push_back(read_shape_check(shapes.element(i)));
    }
    return verification;
}

Round read_round(const JsonReader& in) {
    return {in.at("median_us").number(), in.at("samples").integer(0), in.at("throttled").flag()};
}

Measurement read_measurement(const JsonReader& in) {
    Measurement measurement;
    const JsonReader rounds = in.at("rounds");
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        measurement.rounds.push_back(read_round(rounds.element(i)));
    }
    measurement.samples = in.at("samples").integer(0);
    measurement.launches_per_sample = in.at("launches_per_sample").integer(0);
    measurement.p20_us = in.at("p20_us").number();
    measurement.p50_us = in.at("p50_us").number();
    measurement.p80_us = in.at("p80_us").number();
    measurement.gbps = in.at("gbps").number();
    measurement.limit_us = in.at("limit_us").number();
    measurement.limit_ratio = in.at("limit_ratio").number();
    measurement.floor_us = in.at("floor_us").number();
    measurement.memory_bytes = in.at("memory_bytes").whole(0);
    measurement.rotation_bytes = in.at("rotation_bytes").whole(0);
    measurement.cold = in.at("cold").flag();
    measurement.timer = in.at("timer").text();
    measurement.stop_reason = in.at("stop_reason").name_of(stop_reason_names);
    measurement.throttled_repeats = in.at("throttled_repeats").integer(0);
    measurement.clock_mhz = find_number(in, "clock_mhz");
    measurement.throttle_reasons = in.at("throttle_reasons").texts();
    measurement.rank = in.at("rank").integer(0);
    measurement.tied = in.at("tied").flag();
    measurement.final_rounds_us = in.at("final_rounds_us").numbers();
    return measurement;
}

}  // namespace

Environment read_environment(const JsonReader& in) {
    Environment environment;
    environment.normtune_version = in.at("normtune_version").text();
    environment.source_revision = in.at("source_revision").text();
    environment.hostname = in.at("hostname").text();
    environment.os = in.at("os").text();
    environment.device = read_device_info(in.at("device"));
    environment.started = in.at("started").text();
    environment.seed = in.at("seed").natural();
    return environment;
}

Record read_record(const JsonReader& in) {
    Record record;
    record.timestamp = in.at("timestamp").text();
    record.backend = in.at("backend").name_of(backend_names);
    record.device = in.at("device").text();
    record.arch = in.at("arch").text();
    record.device_id = text_if_there(in, "device_id");
    record.problem = read_problem(in.at("problem"));
    record.candidate = read_candidate(in);
    record.outcome = in.at("outcome").name_of(outcome_names);
    record.reason = in.at("reason").text();
    record.repeat = in.at("repeat").text();
    if (const auto compile = in.find("compile")) {
        record.compile = read_compile_info(*compile);
    }
    if (const auto verification = in.find("verification")) {
        record.verification = read_verification(*verification);
    }
    if (const auto measurement = in.find("measurement")) {
        record.measurement = read_measurement(*measurement);
    }
    return record;
}

PlanSummary read_plan_summary(const JsonReader& in) {
    PlanSummary plan;
    plan.problem_key = in.at("problem").text();
    plan.points = in.at("points").natural();
    plan.kept = in.at("kept").natural();
    const JsonReader pruned = in.at("pruned");
    for (std::size_t i = 0; i < pruned.size(); ++i) {
        const JsonReader rule = pruned.element(i);
        plan.pruned.push_back({rule.at("rule").text(), rule.at("reason").text(), rule.at("count").natural()});
    }
    if (const std::optional<JsonReader> place = in.find("place")) {
        plan.place = place->natural();
    }
    return plan;
}

Problem problem_from_json(const json& value) {
    return read_problem({value, ""});
}
Configuration configuration_from_json(const json& value) {
    return read_configuration({value, ""});
}
DeviceInfo device_info_from_json(const json& value) {
    return read_device_info({value, ""});
}
CompileInfo compile_info_from_json(const json& value) {
    return read_compile_info({value, ""});
}
Verification verification_from_json(const json& value) {
    return read_verification({value, ""});
}
Measurement measurement_from_json(const json& value) {
    return read_measurement({value, ""});
}
Environment environment_from_json(const json& value) {
    return read_environment({value, ""});
}
Record record_from_json(const json& value) {
    return read_record({value, ""});
}

}  // namespace normtune
