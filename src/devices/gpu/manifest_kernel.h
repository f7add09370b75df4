// A launch manifest's code, made ready to be loaded.
#pragma once

#include <memory>

#include "devices/gpu/toolchain.h"
#include "trial/launch_manifest.h"

namespace normtune::gpu {

/// Machine code, how it is launched, and what is known of it before it is loaded.
struct LoadableKernel {
    std::shared_ptr<const CompilePool::Result> compiled;
    LaunchPlan plan;
    CompileInfo info;
};

/// Throws DeviceError: unsupported (another architecture, more shared memory than the device has), compile_failed (its
/// source does not compile, its code file is not what it was).
LoadableKernel load_manifest(const LaunchManifest& manifest, const Toolchain& toolchain, const DeviceInfo& device);

}  // namespace normtune::gpu
