#include "devices/cuda/discovery.h"

#include <array>

#include <fmt/format.h>

#include "devices/cuda/nvml.h"
#include "devices/cuda/nvrtc.h"
#include "kernels/gpu/limits.h"
#include "support/error.h"

namespace normtune::cuda {

namespace {

int attribute(const Driver& driver, Attribute name, DeviceId device) {
    int value = 0;
    check(driver, driver.device_get_attribute(&value, static_cast<int>(name), device), DeviceFault::unsupported,
          "asking for a device attribute");
    return value;
}

std::string driver_version(const Driver& driver) {
    std::string why_not;
    const std::string version = nvml_driver_version(why_not);
    int cuda = 0;
    driver.driver_get_version(&cuda);
    return fmt::format("{}{}CUDA {}.{}", version, version.empty() ? "" : ", ", cuda / 1000, cuda % 1000 / 10);
}

DeviceInfo read_info(const Driver& driver, int ordinal) {
    DeviceId device = 0;
    check(driver, driver.device_get(&device, ordinal), DeviceFault::unsupported, "opening the device");
    DeviceInfo info;
    info.backend = Backend::cuda;
    info.ordinal = ordinal;
    std::array<char, 128> name{};
    driver.device_get_name(name.data(), static_cast<int>(name.size()), device);
    info.name = name.data();
    info.arch = fmt::format("sm_{}{}", attribute(driver, Attribute::compute_capability_major, device),
                            attribute(driver, Attribute::compute_capability_minor, device));
    info.driver = driver_version(driver);
    info.warp_size = 32;
    info.compute_units = attribute(driver, Attribute::multiprocessor_count, device);
    info.max_threads_per_program = attribute(driver, Attribute::max_threads_per_block, device);
    info.shared_bytes_per_program = attribute(driver, Attribute::max_shared_memory_per_block_optin, device);
    info.cache_bytes = attribute(driver, Attribute::l2_cache_size, device);
    std::size_t memory = 0;
    driver.device_total_memory(&memory, device);
    info.memory_bytes = static_cast<std::int64_t>(memory);
    info.has_async_copy = attribute(driver, Attribute::compute_capability_major, device) >= 8;
    return info;
}

}  // namespace

std::vector<DeviceReport> find_cuda_devices() {
    std::string why_not;
    const Driver* driver = load_driver(why_not);
    if (driver == nullptr) {
        return {{Backend::cuda, std::nullopt, why_not}};
    }
    int count = 0;
    if (driver->device_get_count(&count) != success || count == 0) {
        return {{Backend::cuda, std::nullopt,
                 "the NVIDIA driver sees no device; look at CUDA_VISIBLE_DEVICES and nvidia-smi"}};
    }
    std::vector<DeviceReport> reports;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        DeviceReport report{Backend::cuda, std::nullopt, {}};
        try {
            report.info = read_info(*driver, ordinal);
            if (nvrtc_version(why_not).empty()) {
                report.why_not = fmt::format("{} is here, but there is {}", report.info->name, why_not);
                report.info.reset();
            }
        } catch (const DeviceError& error) {
            report.why_not = error.what();
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

DeviceInfo describe_cuda_device(int ordinal) {
    const std::vector<DeviceReport> reports = find_cuda_devices();
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= reports.size()) {
        throw InputError(fmt::format("there is no cuda device {}; 'normtune devices' lists what is here", ordinal));
    }
    const DeviceReport& report = reports[static_cast<std::size_t>(ordinal)];
    if (!report.info) {
        throw InputError(fmt::format("cuda device {} cannot be used: {}", ordinal, report.why_not));
    }
    return *report.info;
}

namespace {

struct Known {
    const char* arch;
    const char* name;
    int compute_units;
    std::int64_t shared_kib;
    std::int64_t l2_mib;
    std::int64_t memory_gib;
};

// Multiprocessors, L2 and shared memory a block: NVIDIA's A100 (80 GB), H100 (SXM) and B200 data sheets and the CUDA
// programming guide's table of compute capabilities.
constexpr std::array<Known, 3> known{{{"sm_80", "NVIDIA A100 (planned)", 108, 163, 40, 80},
                                      {"sm_90", "NVIDIA H100 (planned)", 132, 227, 50, 80},
                                      {"sm_100", "NVIDIA B200 (planned)", 148, 227, 126, 180}}};

}  // namespace

std::vector<std::string> known_cuda_architectures() {
    std::vector<std::string> out;
    for (const Known& k : known) {
        out.emplace_back(k.arch);
    }
    return out;
}

std::optional<DeviceInfo> known_cuda_device(const std::string& arch) {
    for (const Known& k : known) {
        if (arch == k.arch) {
            DeviceInfo info;
            info.backend = Backend::cuda;
            info.name = k.name;
            info.arch = k.arch;
            info.warp_size = 32;
            info.compute_units = k.compute_units;
            info.max_threads_per_program = 1024;
            info.shared_bytes_per_program = k.shared_kib << 10;
            info.cache_bytes = k.l2_mib << 20;
            info.memory_bytes = k.memory_gib << 30;
            info.has_async_copy = true;
            return info;
        }
    }
    return std::nullopt;
}

BackendTraits cuda_traits() {
    return {Backend::cuda, gpu::gpu_inert_axes(Backend::cuda), gpu::gpu_limits(), false, false};
}

}  // namespace normtune::cuda
