#include "devices/registry.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "devices/cpu/cpu_device.h"
#include "devices/cpu/traits.h"
#include "devices/cuda/code.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/discovery.h"
#include "devices/hip/code.h"
#include "devices/hip/discovery.h"
#include "devices/hip/hip_device.h"
#include "devices/replay/replay_device.h"
#include "support/error.h"

namespace normtune {

namespace {

void check_cpu(int ordinal) {
    if (ordinal != 0) {
        throw InputError(fmt::format("no cpu device {}: all processors together are device 0", ordinal));
    }
}

}  // namespace

std::vector<DeviceReport> find_devices() {
    std::vector<DeviceReport> reports = cuda::find_cuda_devices();
    reports.push_back({Backend::cpu, cpu::describe_cpu(), ""});
    const std::vector<DeviceReport> hip = hip::find_hip_devices();
    // The best first: any GPU before the processors.
    const bool gpu_of_amd = std::any_of(hip.begin(), hip.end(), [](const DeviceReport& r) { return r.info.has_value(); });
    reports.insert(gpu_of_amd ? reports.end() - 1 : reports.end(), hip.begin(), hip.end());
    return reports;
}

std::vector<int> usable_ordinals(Backend backend, const std::string& script) {
    std::vector<int> ordinals;
    if (backend == Backend::replay) {
        ordinals.resize(static_cast<std::size_t>(replay_device_count(script)));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        return ordinals;
    }
    for (const DeviceReport& report : find_devices()) {
        if (report.info && report.backend == backend) {
            ordinals.push_back(report.info->ordinal);
        }
    }
    return ordinals;
}

BackendTraits backend_traits(Backend backend) {
    switch (backend) {
        case Backend::cpu:
            return cpu::cpu_traits();
        case Backend::cuda:
            return cuda::cuda_traits();
        case Backend::replay:
            return replay_traits();
        default:
            return hip::hip_traits();
    }
}

std::vector<std::string> known_architectures() {
    std::vector<std::string> all = known_architectures(Backend::cuda);
    const std::vector<std::string> hip = known_architectures(Backend::hip);
    all.insert(all.end(), hip.begin(), hip.end());
    return all;
}

std::vector<std::string> known_architectures(Backend backend) {
    switch (backend) {
        case Backend::cuda:
            return cuda::known_cuda_architectures();
        case Backend::hip:
            return hip::known_hip_architectures();
        default:
            return {};
    }
}

DeviceInfo describe_architecture(const std::string& arch) {
    if (const std::optional<DeviceInfo> known = cuda::known_cuda_device(arch)) {
        return *known;
    }
    if (const std::optional<DeviceInfo> known = hip::known_hip_device(arch)) {
        return *known;
    }
    throw InputError(
        fmt::format("no architecture {} is known; those that are: {}", quoted_for_message(arch), fmt::join(known_architectures(), ", ")));
}

std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device) {
    if (device.backend == Backend::hip) {
        return gpu::offline_compiler(device, hip::toolchain(device.arch));
    }
    if (device.backend != Backend::cuda) {
        throw InputError(fmt::format("--compile: the {} backend compiles nothing at run time; with --arch {} it needs no device",
                                     backend_names.name(device.backend), fmt::join(known_architectures(), ", ")));
    }
    return gpu::offline_compiler(device, cuda::toolchain(device.arch));
}

std::unique_ptr<Device> open_device(Backend backend, int ordinal, const std::string& script) {
    switch (backend) {
        case Backend::cpu:
            check_cpu(ordinal);
            return cpu::open_cpu();
        case Backend::cuda:
            return cuda::open_cuda_device(ordinal);
        case Backend::replay:
            return open_replay(script, ordinal);
        default:
            return hip::open_hip_device(ordinal);
    }
}

DeviceInfo describe_device(Backend backend, int ordinal, const std::string& script) {
    switch (backend) {
        case Backend::cpu:
            check_cpu(ordinal);
            return cpu::describe_cpu();
        case Backend::cuda:
            return cuda::describe_cuda_device(ordinal);
        case Backend::replay:
            return describe_replay(script, ordinal);
        default:
            return hip::describe_hip_device(ordinal);
    }
}

DeviceInfo described(const std::vector<DeviceReport>& reports, Backend backend, int ordinal) {
    const std::string_view name = backend_names.name(backend);
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= reports.size()) {
        throw InputError(fmt::format("there is no {} device {}; 'normtune devices' lists what is here", name, ordinal));
    }
    const DeviceReport& report = reports[static_cast<std::size_t>(ordinal)];
    if (!report.info) {
        throw InputError(fmt::format("{} device {} cannot be used: {}", name, ordinal, report.why_not));
    }
    return *report.info;
}

}  // namespace normtune
