// A GPU's clock and why it is lowered, as its driver tells; where it does not, measuring goes on without.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace normtune::gpu {

struct ClockState {
    std::optional<double> mhz;                  // of the compute units
    std::vector<std::string> throttle_reasons;  // "sw_power_cap", "hw_thermal_slowdown", …; idle and set clocks are none
};

}  // namespace normtune::gpu
