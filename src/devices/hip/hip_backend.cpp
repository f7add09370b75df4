#include "devices/hip/hip_backend.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "devices/gpu/vendor.h"
#include "devices/hip/clang.h"
#include "devices/hip/code.h"
#include "devices/hip/hiprtc.h"
#include "devices/hip/runtime_api.h"

namespace normtune::hip {
namespace {

// Compute units, L2 or Infinity Cache, memory: AMD's data sheets of the Instinct MI250X (one of its two dies), MI300X,
// Radeon RX 6900 XT and RX 7900 XTX, of these in pairs, as HIP counts them (devices/hip/code.h). A work-group has at most 64 KiB of LDS on
// all of them (LLVM, User Guide for AMDGPU Backend).
constexpr gpu::PlannedDevice planned[] = {{"gfx90a", "AMD MI250X (planned)", 64, 110, 2048, 64, 8, 64, false},
                                          {"gfx942", "AMD MI300X (planned)", 64, 304, 2048, 64, 256, 192, false},
                                          {"gfx1030", "AMD RX 6900 XT (planned)", 32, 40, 2048, 64, 128, 16, false},
                                          {"gfx1100", "AMD RX 7900 XTX (planned)", 32, 48, 2048, 64, 96, 24, false}};

/// The amdgpu driver's own version; empty for the one that comes with the kernel.
std::string amdgpu_version() {
    std::string version;
    std::getline(std::ifstream("/sys/module/amdgpu/version") >> std::ws, version);
    return version;
}

/// By the amdgpu driver's files (Linux kernel, amdgpu thermal and power interfaces); nothing where there are none.
gpu::ClockState read_clocks(const std::string& pci_bus_id) {
    std::string bus = pci_bus_id;
    std::transform(bus.begin(), bus.end(), bus.begin(), [](unsigned char c) { return std::tolower(c); });
    gpu::ClockState state;
    std::error_code none;
    for (const auto& monitor : std::filesystem::directory_iterator(fmt::format("/sys/bus/pci/devices/{}/hwmon", bus), none)) {
        const auto read = [&](const char* file, std::optional<double>& mhz) {
            double hertz = 0;
            if (std::ifstream(monitor.path() / file) >> hertz && hertz > 0) {
                mhz = hertz / 1e6;
            }
        };
        read("freq1_input", state.mhz);
        read("freq2_input", state.memory_mhz);
    }
    return state;
}

void complete(gpu::DeviceId device, DeviceInfo& info) {
    info.arch = architecture_of(device);
    const std::string amdgpu = amdgpu_version();
    info.driver = fmt::format("{}{}HIP {}", amdgpu.empty() ? "" : "amdgpu ", amdgpu.empty() ? "" : amdgpu + ", ", runtime_version());
    // HIP tells of the L2 alone; what lies behind it (Infinity Cache) is by the architecture.
    for (const gpu::PlannedDevice& known : planned) {
        info.cache_bytes = info.arch == known.arch ? std::max(info.cache_bytes, known.cache_mib << 20) : info.cache_bytes;
    }
}

std::string no_compiler() {
    std::string why_not;
    return hiprtc_name(why_not).empty() && clang_name(why_not).empty() ? "no compiler: " + why_not : "";
}

}  // namespace

BackendRow backend() {
    BackendRow row =
        gpu::backend_row({.backend = Backend::hip,
                          .load = load_runtime,
                          .sees_no_device = "HIP's run time sees no device; look at ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and rocminfo",
                          .complete = complete,
                          .no_compiler = no_compiler,
                          .toolchain = toolchain,
                          .clocks = read_clocks,
                          .planned = planned});
    row.run_as_child = run_as_hip_compiler;
    return row;
}

}  // namespace normtune::hip
