// A launch manifest's code, made ready to be loaded.
#pragma once

#include "devices/gpu/toolchain.h"
#include "trial/launch_manifest.h"

namespace normtune::gpu {

/// Throws DeviceError: unsupported (another architecture, more shared memory than the device has), compile_failed (its
/// source does not compile, its code file is not what it was).
LoadableKernel load_manifest(const LaunchManifest& manifest, const Toolchain& toolchain, const DeviceInfo& device);

/// Queues what load_manifest would compile.
void compile_manifest_ahead(const LaunchManifest& manifest, const Toolchain& toolchain, const DeviceInfo& device);

}  // namespace normtune::gpu
