#include "devices/cuda/nvml.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "support/dynamic_library.h"

namespace normtune::cuda {

namespace {

using NvmlDevice = struct NvmlDeviceOpaque*;

struct Nvml {
    int (*init)();
    int (*driver_version)(char*, unsigned length);
    int (*device_by_pci)(const char* bus_id, NvmlDevice*);
    int (*clock)(NvmlDevice, int type, unsigned* mhz);
    int (*throttle_reasons)(NvmlDevice, unsigned long long*);
    int (*lock_clocks)(NvmlDevice, unsigned least_mhz, unsigned most_mhz);  // null: an old driver
    int (*unlock_clocks)(NvmlDevice);
    const char* (*describe)(int);
};

constexpr Symbol<Nvml> nvml_functions[] = {
    symbol<&Nvml::init>("nvmlInit_v2"),
    symbol<&Nvml::driver_version>("nvmlSystemGetDriverVersion"),
    symbol<&Nvml::device_by_pci>("nvmlDeviceGetHandleByPciBusId_v2"),
    symbol<&Nvml::clock>("nvmlDeviceGetClockInfo"),
    symbol<&Nvml::throttle_reasons>("nvmlDeviceGetCurrentClocksThrottleReasons"),
    symbol<&Nvml::lock_clocks>("nvmlDeviceSetGpuLockedClocks", false),
    symbol<&Nvml::unlock_clocks>("nvmlDeviceResetGpuLockedClocks", false),
    symbol<&Nvml::describe>("nvmlErrorString", false),
};

struct LoadedNvml {
    Nvml api{};
    std::string why_not;
};

LoadedNvml load_nvml() {
    LoadedNvml loaded;
    const std::array<std::string, 2> candidates{"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"};
    const DynamicLibrary library(candidates);
    if (!library.is_open()) {
        loaded.why_not = fmt::format("no NVML: {}; it comes with the NVIDIA driver", library.why_not());
        return loaded;
    }
    Nvml& api = loaded.api;
    std::string missing;
    library.load(api, nvml_functions, missing);
    if (!missing.empty()) {
        loaded.why_not = fmt::format("{} has no {}", library.path(), missing);
    } else if (const int result = api.init(); result != 0) {
        loaded.why_not = fmt::format("NVML does not start (error {})", result);
    }
    return loaded;
}

const LoadedNvml& nvml() {
    static const LoadedNvml loaded = load_nvml();
    return loaded;
}

constexpr int clock_sm = 1;
constexpr int clock_memory = 2;
// Bits of nvmlClocksThrottleReasons that lower the clocks below what was asked for (NVML API reference).
constexpr std::array<std::pair<unsigned long long, const char*>, 6> slowing_reasons{{{0x04, "sw_power_cap"},
                                                                                     {0x08, "hw_slowdown"},
                                                                                     {0x10, "sync_boost"},
                                                                                     {0x20, "sw_thermal_slowdown"},
                                                                                     {0x40, "hw_thermal_slowdown"},
                                                                                     {0x80, "hw_power_brake"}}};

}  // namespace

gpu::ClockState read_clocks(const std::string& pci_bus_id) {
    gpu::ClockState state;
    NvmlDevice device = nullptr;
    if (!nvml().why_not.empty() || nvml().api.device_by_pci(pci_bus_id.c_str(), &device) != 0) {
        return state;
    }
    unsigned mhz = 0;
    if (nvml().api.clock(device, clock_sm, &mhz) == 0) {
        state.mhz = mhz;
    }
    if (nvml().api.clock(device, clock_memory, &mhz) == 0) {
        state.memory_mhz = mhz;
    }
    unsigned long long reasons = 0;
    if (nvml().api.throttle_reasons(device, &reasons) == 0) {
        for (const auto& [bit, name] : slowing_reasons) {
            if ((reasons & bit) != 0) {
                state.throttle_reasons.emplace_back(name);
            }
        }
    }
    return state;
}

std::string lock_clock(const std::string& pci_bus_id, int mhz) {
    if (!nvml().why_not.empty()) {
        return nvml().why_not;
    }
    const Nvml& api = nvml().api;
    if (api.lock_clocks == nullptr || api.unlock_clocks == nullptr) {
        return "this driver cannot lock clocks";
    }
    NvmlDevice device = nullptr;
    int result = api.device_by_pci(pci_bus_id.c_str(), &device);
    if (result == 0) {
        result = api.lock_clocks(device, static_cast<unsigned>(mhz), static_cast<unsigned>(mhz));
    }
    const char* const words = result != 0 && api.describe != nullptr ? api.describe(result) : nullptr;
    return result == 0 ? ""
                       : fmt::format("the driver does not lock the clock of {} ({}); root may, where the GPU can do it; leave it out",
                                     pci_bus_id, words != nullptr ? words : fmt::format("error {}", result));
}

bool unlock_clock(const std::string& pci_bus_id) {
    NvmlDevice device = nullptr;
    return nvml().why_not.empty() && nvml().api.unlock_clocks != nullptr && nvml().api.device_by_pci(pci_bus_id.c_str(), &device) == 0 &&
           nvml().api.unlock_clocks(device) == 0;
}

std::string nvml_driver_version(std::string& why_not) {
    why_not = nvml().why_not;
    std::array<char, 96> version{};
    if (!why_not.empty() || nvml().api.driver_version(version.data(), version.size()) != 0) {
        return {};
    }
    return version.data();
}

}  // namespace normtune::cuda
