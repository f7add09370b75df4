#include "devices/hip/discovery.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "devices/hip/clang.h"
#include "devices/hip/clocks.h"
#include "devices/hip/hiprtc.h"
#include "devices/hip/runtime_api.h"
#include "kernels/gpu/limits.h"

namespace normtune::hip {
namespace {

struct Known {
    const char* arch;
    const char* name;
    int warp_size;
    int compute_units;
    std::int64_t cache_mib;  // the last-level one
    std::int64_t memory_gib;
};

// Compute units, L2 or Infinity Cache, memory: AMD's data sheets of the Instinct MI250X (one of its two dies), MI300X,
// Radeon RX 6900 XT and RX 7900 XTX. A work-group has at most 64 KiB of LDS on all of them (LLVM, User Guide for AMDGPU
// Backend).
constexpr std::array<Known, 4> known{{{"gfx90a", "AMD MI250X (planned)", 64, 110, 8, 64},
                                      {"gfx942", "AMD MI300X (planned)", 64, 304, 256, 192},
                                      {"gfx1030", "AMD RX 6900 XT (planned)", 32, 80, 128, 16},
                                      {"gfx1100", "AMD RX 7900 XTX (planned)", 32, 96, 96, 24}}};

/// HIP tells of the L2 alone; what lies behind it (Infinity Cache) is by the architecture.
std::int64_t last_level_cache(const std::string& arch, std::int64_t l2) {
    const std::optional<DeviceInfo> device = known_hip_device(arch);
    return device ? std::max(l2, device->cache_bytes) : l2;
}

DeviceInfo read_info(const gpu::Driver& driver, int ordinal) {
    using gpu::Attribute;
    gpu::DeviceId device = 0;
    gpu::check(driver, driver.device_get(&device, ordinal), DeviceFault::unsupported, "opening the device");
    DeviceInfo info;
    info.backend = Backend::hip;
    info.ordinal = ordinal;
    info.id = gpu::pci_address(driver, device);
    std::array<char, 256> name{};
    driver.device_get_name(name.data(), static_cast<int>(name.size()), device);
    info.name = name.data();
    info.arch = architecture_of(device);
    const std::string amdgpu = amdgpu_version("/sys");
    info.driver = fmt::format("{}{}HIP {}", amdgpu.empty() ? "" : "amdgpu ", amdgpu.empty() ? "" : amdgpu + ", ", runtime_version());
    info.warp_size = gpu::attribute(driver, Attribute::warp_size, device);
    info.compute_units = gpu::attribute(driver, Attribute::compute_units, device);
    info.max_threads_per_program = gpu::attribute(driver, Attribute::max_threads_per_program, device);
    info.shared_bytes_per_program = gpu::attribute(driver, Attribute::shared_bytes_per_program, device);
    info.cache_bytes = last_level_cache(info.arch, gpu::attribute(driver, Attribute::cache_bytes, device));
    std::size_t memory = 0;
    driver.device_total_memory(&memory, device);
    info.memory_bytes = static_cast<std::int64_t>(memory);
    info.has_async_copy = false;
    return info;
}

}  // namespace

std::vector<std::string> known_hip_architectures() {
    std::vector<std::string> out;
    for (const Known& k : known) {
        out.emplace_back(k.arch);
    }
    return out;
}

std::optional<DeviceInfo> known_hip_device(const std::string& arch) {
    for (const Known& k : known) {
        if (arch == k.arch) {
            DeviceInfo info;
            info.backend = Backend::hip;
            info.name = k.name;
            info.arch = k.arch;
            info.warp_size = k.warp_size;
            info.compute_units = k.compute_units;
            info.max_threads_per_program = 1024;
            info.shared_bytes_per_program = 64 << 10;
            info.cache_bytes = k.cache_mib << 20;
            info.memory_bytes = k.memory_gib << 30;
            info.has_async_copy = false;
            return info;
        }
    }
    return std::nullopt;
}

std::vector<DeviceReport> find_hip_devices() {
    std::string why_not;
    const gpu::Driver* driver = load_runtime(why_not);
    if (driver == nullptr) {
        return {{Backend::hip, std::nullopt, why_not}};
    }
    int count = 0;
    if (driver->device_get_count(&count) != gpu::success || count == 0) {
        return {
            {Backend::hip, std::nullopt, "HIP's run time sees no device; look at ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and rocminfo"}};
    }
    std::vector<DeviceReport> reports;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        DeviceReport report{Backend::hip, std::nullopt, {}};
        try {
            report.info = read_info(*driver, ordinal);
            if (hiprtc_name(why_not).empty() && clang_name(why_not).empty()) {
                report.why_not = fmt::format("{} is here, but no compiler: {}", report.info->name, why_not);
                report.info.reset();
            }
        } catch (const DeviceError& error) {
            report.why_not = error.what();
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

DeviceInfo describe_hip_device(int ordinal) {
    return described(find_hip_devices(), Backend::hip, ordinal);
}

BackendTraits hip_traits() {
    return {Backend::hip, inert_axes(Backend::hip), gpu::gpu_limits(), false, false};
}

}  // namespace normtune::hip
