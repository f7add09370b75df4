#include "report/export/launch_json.h"

#include <nlohmann/json.hpp>

#include "support/version.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int launch_schema_version = 1;

std::string_view type_name(gpu::ArgumentType type) {
    switch (type) {
        case gpu::ArgumentType::pointer:
            return "pointer";
        case gpu::ArgumentType::int64:
            return "int64";
        case gpu::ArgumentType::int32:
            return "int32";
        case gpu::ArgumentType::fp32:
            break;
    }
    return "fp32";
}

Json argument_json(const gpu::Argument& argument) {
    Json json{{"name", argument.name}, {"type", type_name(argument.type)}};
    switch (argument.source) {
        case gpu::Argument::Source::tensor:
            json["tensor"] = tensor_names.name(argument.tensor);
            break;
        case gpu::Argument::Source::workspace:
            json["workspace_offset"] = argument.integer;
            break;
        case gpu::Argument::Source::null:
            json["value"] = nullptr;
            break;
        case gpu::Argument::Source::value:
            if (argument.type == gpu::ArgumentType::fp32) {
                json["value"] = argument.real;
            } else {
                json["value"] = argument.integer;
            }
    }
    return json;
}

Json launch(const gpu::Launch& one) {
    Json arguments = Json::array();
    for (const gpu::Argument& argument : one.arguments) {
        arguments.push_back(argument_json(argument));
    }
    return {{"kernel", one.kernel},
            {"grid", {one.grid_x, one.grid_y, 1}},
            {"block", {one.block, 1, 1}},
            {"shared_bytes", one.shared_bytes},
            {"cooperative", one.cooperative},
            {"programmatic_stream_serialization", one.overlaps},
            {"arguments", std::move(arguments)}};
}

std::string_view access_name(Access access) {
    return access == Access::in ? "in" : access == Access::out ? "out" : "in_out";
}

}  // namespace

std::string launch_json(const EmittedKernel& kernel) {
    Json launches = Json::array();
    for (const gpu::Launch& one : kernel.plan.launches) {
        launches.push_back(launch(one));
    }
    Json all_tensors = Json::array();
    for (const Tensor& tensor : tensors(kernel.problem)) {
        all_tensors.push_back({{"name", tensor_names.name(tensor.role)},
                               {"dtype", dtype_names.name(tensor.dtype)},
                               {"rows", tensor.rows},
                               {"cols", tensor.cols},
                               {"row_stride", tensor.row_stride},
                               {"access", access_name(tensor.access)}});
    }
    const CompileInfo& code = kernel.code;
    const Json json{{"schema_version", launch_schema_version},
                    {"normtune_version", version()},
                    {"problem", kernel.problem.key()},
                    {"eps", kernel.problem.operation.eps},
                    {"configuration", kernel.configuration.key()},
                    {"arch", kernel.device.arch},
                    {"compute_units", kernel.device.compute_units},
                    {"compiler", kernel.compiler},
                    {"code",
                     {{"hash", code.code_hash},
                      {"registers", code.registers.value_or(0)},
                      {"spill_bytes", code.spill_bytes.value_or(0)},
                      {"shared_bytes", code.shared_bytes.value_or(0)},
                      {"occupancy", code.occupancy.value_or(0)}}},
                    {"workspace_bytes", kernel.plan.workspace_bytes},
                    {"tensors", std::move(all_tensors)},
                    {"launches", std::move(launches)}};
    return json.dump(2) + "\n";
}

}  // namespace normtune
