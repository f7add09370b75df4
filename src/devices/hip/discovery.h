// AMD devices that are here, those that planning and compiling know without one, and what holds for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/registry.h"
#include "space/backend_traits.h"

namespace normtune::hip {

/// Architectures that can be planned and compiled for with no device here: gfx90a, gfx942, gfx1030, gfx1100.
std::vector<std::string> known_hip_architectures();

/// A well-known device of an architecture; nothing for one that is not among them.
std::optional<DeviceInfo> known_hip_device(const std::string& arch);

/// Every AMD device, or one report that says why there is none.
std::vector<DeviceReport> find_hip_devices();

/// Throws InputError: no such device.
DeviceInfo describe_hip_device(int ordinal);

BackendTraits hip_traits();

}  // namespace normtune::hip
