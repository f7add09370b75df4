// What `normtune devices` prints.
#pragma once

#include <string>
#include <vector>

#include "devices/registry.h"
#include "report/sections.h"

namespace normtune {

/// A block for each device with what planning and measuring know of it, and one line for each backend without one.
std::string device_text(const std::vector<DeviceReport>& reports, const Style& style);
/// The same, a line a device; backends without one are left out.
Section device_section(const std::vector<DeviceReport>& reports);

}  // namespace normtune
