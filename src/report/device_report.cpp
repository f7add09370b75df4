#include "report/device_report.h"

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {
namespace {

std::string device_block(const DeviceInfo& device, const Style& style) {
    const bool cpu = device.backend == Backend::cpu;
    std::string out = fmt::format("{} {}: {}\n", backend_names.name(device.backend), device.ordinal, style.bold(for_terminal(device.name)));
    const auto line = [&](std::string_view what, const std::string& value) {
        const std::string text = fmt::format("  {:<24}{}\n", what, for_terminal(value));
        out += style.width == 0 ? text : prose(text, style);
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
            const std::string line = fmt::format("{}: none: {}\n", backend_names.name(report.backend), for_terminal(report.why_not));
            out += style.width == 0 ? line : prose(line, style);
        }
    }
    return out;
}

Section device_section(const std::vector<DeviceReport>& reports) {
    Section section{"", Table("backend|>device|name|arch|driver|>units|>warp|>shared bytes|>cache bytes|>memory bytes"), ""};
    for (const DeviceReport& report : reports) {
        if (report.info) {
            const DeviceInfo& device = *report.info;
            section.table.add({std::string(backend_names.name(device.backend)), fmt::format("{}", device.ordinal), device.name, device.arch,
                               device.driver, fmt::format("{}", device.compute_units), fmt::format("{}", device.warp_size),
                               fmt::format("{}", device.shared_bytes_per_program), fmt::format("{}", device.cache_bytes),
                               fmt::format("{}", device.memory_bytes)});
        }
    }
    return section;
}

}  // namespace normtune
