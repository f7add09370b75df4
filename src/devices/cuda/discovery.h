// CUDA devices that are here, and those that planning and compiling know without one.
#pragma once

#include <optional>
#include <string>

#include "devices/cuda/driver_api.h"
#include "devices/registry.h"
#include "space/backend_traits.h"

namespace normtune::cuda {

/// Every CUDA device, or one report that says why there is none.
std::vector<DeviceReport> find_cuda_devices();

/// Throws InputError: no such device.
DeviceInfo describe_cuda_device(int ordinal);

/// A well-known device of an architecture ("sm_80", "sm_90", "sm_100"), for planning with no device; empty if unknown.
std::optional<DeviceInfo> known_cuda_device(const std::string& arch);

std::vector<std::string> known_cuda_architectures();

BackendTraits cuda_traits();

}  // namespace normtune::cuda
