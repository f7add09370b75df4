// AMD devices: those that planning knows, and the axes and limits that hold for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem/backend_traits.h"
#include "problem/device_info.h"

namespace normtune::hip {

/// Architectures that can be planned and compiled for with no device here: gfx90a, gfx942, gfx1030, gfx1100.
std::vector<std::string> known_hip_architectures();

/// A well-known device of an architecture; nothing for one that is not among them.
std::optional<DeviceInfo> known_hip_device(const std::string& arch);

/// What AMD's own libraries say of the devices here: none can be measured yet, only planned for.
std::string why_no_hip_device();

BackendTraits hip_traits();

}  // namespace normtune::hip
