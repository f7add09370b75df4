// How an emitted kernel is launched, as JSON; its schema is schemas/launch.schema.json.
#pragma once

#include <string>

#include "devices/device.h"
#include "kernels/gpu/launch_plan.h"

namespace normtune {

struct EmittedKernel {
    Problem problem;
    Configuration configuration;
    DeviceInfo device;
    gpu::LaunchPlan plan;
    CompileInfo code;
    std::string compiler;  // "NVRTC 13.0"
};

/// Launches in stream order with grid, block, shared bytes and typed arguments, the tensors with their shapes, the
/// workspace, and what the compiler says.
std::string launch_json(const EmittedKernel& kernel);

}  // namespace normtune
