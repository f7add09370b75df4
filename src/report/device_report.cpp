#include "report/device_report.h"

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {
namespace {

std::string device_block(const DeviceInfo& device, const Style& style) {
    const bool cpu = device.backend == Backend::cpu;
    std::string out = fmt::format("{} {}: {}\n", backend_names.name(device.backend), device.ordinal, style.bold(for_terminal(device.name)));
    const auto line = [&](std::string_view what, const std::string& value) {
        out += fmt::format("  {:<24}{}\n", what, for_terminal(value));
    };
    line(cpu ? "instruction set" : "architecture", device.arch);
    line(cpu ? "kernel" : "driver", device.driver);
    line(cpu ? "cores" : "compute units", fmt::format("{}", device.compute_units));
    line(cpu ? "fp32 lanes of a vector" : "warp size", fmt::format("{}", device.warp_size));
    line(cpu ? "L1 data cache" : "shared memory", byte_text(device.shared_bytes_per_program));
    line("last-level cache", byte_text(device.cache_bytes));
    line("memory", byte_text(device.memory_bytes));
    return out;
}

}  // namespace

std::string device_text(const std::vector<DeviceReport>& reports, const Style& style) {
    std::string out;
    for (const DeviceReport& report : reports) {
        if (report.info) {
            out += device_block(*report.info, style);
        } else {
            out += fmt::format("{}: none: {}\n", backend_names.name(report.backend), for_terminal(report.why_not));
        }
    }
    return out;
}

}  // namespace normtune
