#include "devices/cuda/discovery.h"

#include <array>

#include <fmt/format.h>

#include "devices/cuda/nvml.h"
#include "devices/cuda/nvrtc.h"
#include "kernels/gpu/limits.h"
#include "support/error.h"

namespace normtune::cuda {

namespace {

using gpu::Attribute;
using gpu::attribute;

std::string driver_version() {
    std::string why_not;
    const std::string version = nvml_driver_version(why_not);
    return fmt::format("{}{}CUDA {}", version, version.empty() ? "" : ", ", cuda_version());
}

DeviceInfo read_info(const gpu::Driver& driver, int ordinal) {
    gpu::DeviceId device = 0;
    gpu::check(driver, driver.device_get(&device, ordinal), DeviceFault::unsupported, "opening the device");
    DeviceInfo info;
    info.backend = Backend::cuda;
    info.ordinal = ordinal;
    info.id = gpu::pci_address(driver, device);
    std::array<char, 128> name{};
    driver.device_get_name(name.data(), static_cast<int>(name.size()), device);
    info.name = name.data();
    info.arch = architecture_of(device);
    info.driver = driver_version();
    info.warp_size = attribute(driver, Attribute::warp_size, device);
    info.compute_units = attribute(driver, Attribute::compute_units, device);
    info.max_threads_per_program = attribute(driver, Attribute::max_threads_per_program, device);
    info.shared_bytes_per_program = attribute(driver, Attribute::shared_bytes_per_program, device);
    info.cache_bytes = attribute(driver, Attribute::cache_bytes, device);
    std::size_t memory = 0;
    driver.device_total_memory(&memory, device);
    info.memory_bytes = static_cast<std::int64_t>(memory);
    info.has_async_copy = info.arch != "sm_70" && info.arch != "sm_72" && info.arch != "sm_75";
    return info;
}

}  // namespace

std::vector<DeviceReport> find_cuda_devices() {
    std::string why_not;
    const gpu::Driver* driver = load_driver(why_not);
    if (driver == nullptr) {
        return {{Backend::cuda, std::nullopt, why_not}};
    }
    int count = 0;
    if (driver->device_get_count(&count) != gpu::success || count == 0) {
        return {{Backend::cuda, std::nullopt, "the NVIDIA driver sees no device; look at CUDA_VISIBLE_DEVICES and nvidia-smi"}};
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
    return described(find_cuda_devices(), Backend::cuda, ordinal);
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
    return {Backend::cuda, inert_axes(Backend::cuda), gpu::gpu_limits(), false, false};
}

}  // namespace normtune::cuda
