#include "devices/hip/clocks.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>

namespace normtune::hip {

gpu::ClockState read_clocks(const std::string& pci_bus_id, const std::string& root) {
    std::string bus = pci_bus_id;
    std::transform(bus.begin(), bus.end(), bus.begin(), [](unsigned char c) { return std::tolower(c); });
    gpu::ClockState state;
    std::error_code none;
    std::filesystem::directory_iterator monitors(fmt::format("{}/bus/pci/devices/{}/hwmon", root, bus), none);
    for (const auto end = std::filesystem::directory_iterator(); !none && monitors != end; monitors.increment(none)) {
        double hertz = 0;
        if (std::ifstream(monitors->path() / "freq1_input") >> hertz && hertz > 0) {
            state.mhz = hertz / 1e6;
        }
    }
    return state;
}

std::string amdgpu_version(const std::string& root) {
    std::string version;
    std::getline(std::ifstream(fmt::format("{}/module/amdgpu/version", root)) >> std::ws, version);
    return version;
}

}  // namespace normtune::hip
