#include "devices/registry.h"

#include <fmt/format.h>

#include "devices/cpu/cpu_device.h"
#include "devices/cpu/traits.h"
#include "devices/cuda/code.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/discovery.h"
#include "devices/replay/replay_device.h"
#include "support/error.h"

namespace normtune {

namespace {

[[noreturn]] void not_built(Backend backend) {
    throw InputError(
        fmt::format("this executable is built without the {} backend; use --backend cpu", backend_names.name(backend)));
}

void check_cpu(int ordinal) {
    if (ordinal != 0) {
        throw InputError(fmt::format("no cpu device {}: all processors together are device 0", ordinal));
    }
}

}  // namespace

std::vector<DeviceReport> find_devices() {
    std::vector<DeviceReport> reports = cuda::find_cuda_devices();
    reports.push_back({Backend::cpu, cpu::describe_cpu(), ""});
    reports.push_back({Backend::hip, std::nullopt, "this executable is built without this backend"});
    return reports;
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
            not_built(backend);
    }
}

std::vector<std::string> known_architectures() {
    return cuda::known_cuda_architectures();
}

DeviceInfo describe_architecture(const std::string& arch) {
    if (const std::optional<DeviceInfo> known = cuda::known_cuda_device(arch)) {
        return *known;
    }
    throw InputError(fmt::format("no architecture {} is known; those that are: {}", quoted_for_message(arch),
                                 fmt::join(known_architectures(), ", ")));
}

std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device) {
    if (device.backend != Backend::cuda) {
        throw InputError(
            fmt::format("--compile: the {} backend compiles nothing at run time; with --arch {} it needs no device",
                        backend_names.name(device.backend), fmt::join(known_architectures(), ", ")));
    }
    return cuda::open_compiler(device);
}

std::unique_ptr<Device> open_device(Backend backend, int ordinal, const std::string& script) {
    switch (backend) {
        case Backend::cpu:
            check_cpu(ordinal);
            return cpu::open_cpu();
        case Backend::cuda:
            return cuda::open_cuda_device(ordinal);
        case Backend::replay:
            return open_replay(script);
        default:
            not_built(backend);
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
            return describe_replay(script);
        default:
            not_built(backend);
    }
}

}  // namespace normtune
