#include "devices/registry.h"

#include <algorithm>

#include <fmt/format.h>

#include "devices/compile/compile_cache.h"
#include "devices/cpu/cpu_device.h"
#include "devices/cuda/cuda_backend.h"
#include "devices/hip/hip_backend.h"
#include "devices/replay/replay_device.h"
#include "support/error.h"

namespace normtune {

namespace {

/// Of GPUs, those first that are reported first.
const std::vector<BackendRow>& rows() {
    static const std::vector<BackendRow> all{cuda::backend(), cpu::backend(), hip::backend(), replay_backend()};
    return all;
}

}  // namespace

const BackendRow& backend_row(Backend backend) {
    return *std::find_if(rows().begin(), rows().end(), [&](const BackendRow& row) { return row.backend == backend; });
}

std::vector<DeviceReport> find_devices() {
    std::vector<DeviceReport> all;
    for (const BackendRow& row : rows()) {
        if (!row.is_listed) {
            continue;
        }
        const std::vector<DeviceReport> reports = row.find("");
        // The best first: any GPU before the processors.
        const bool usable = std::any_of(reports.begin(), reports.end(), [](const DeviceReport& report) { return report.info.has_value(); });
        const auto before =
            std::find_if(all.begin(), all.end(), [&](const DeviceReport& report) { return usable && report.backend == Backend::cpu; });
        all.insert(before, reports.begin(), reports.end());
    }
    return all;
}

std::vector<int> usable_ordinals(Backend backend, const std::string& script) {
    std::vector<int> ordinals;
    for (const DeviceReport& report : backend_row(backend).find(script)) {
        if (report.info) {
            ordinals.push_back(report.info->ordinal);
        }
    }
    return ordinals;
}

BackendTraits backend_traits(Backend backend) {
    return backend_row(backend).traits();
}

std::vector<std::string> known_architectures() {
    std::vector<std::string> all;
    for (const BackendRow& row : rows()) {
        const std::vector<std::string> own = known_architectures(row.backend);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

std::vector<std::string> known_architectures(Backend backend) {
    std::vector<std::string> out;
    for (const DeviceInfo& device : backend_row(backend).planned) {
        out.push_back(device.arch);
    }
    return out;
}

DeviceInfo describe_architecture(const std::string& arch) {
    for (const BackendRow& row : rows()) {
        for (const DeviceInfo& device : row.planned) {
            if (device.arch == arch) {
                return device;
            }
        }
    }
    throw InputError(
        fmt::format("no architecture {} is known; those that are: {}", quoted_for_message(arch), fmt::join(known_architectures(), ", ")));
}

std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device) {
    const BackendRow& row = backend_row(device.backend);
    if (!row.compiler) {
        throw InputError(fmt::format("--compile: the {} backend compiles nothing at run time; with --arch {} it needs no device",
                                     backend_names.name(device.backend), fmt::join(known_architectures(), ", ")));
    }
    return row.compiler(device);
}

std::unique_ptr<Device> open_device(Backend backend, int ordinal, const std::string& script) {
    return backend_row(backend).open(ordinal, script);
}

DeviceInfo describe_device(Backend backend, int ordinal, const std::string& script) {
    return backend_row(backend).describe(ordinal, script);
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

std::string kernels_digest(const DeviceInfo& device, const std::string& script) {
    const std::string text = backend_row(device.backend).kernels(device, script);
    return content_hash(text.data(), text.size());
}

std::string kernels_compiler(const DeviceInfo& device) {
    const BackendRow& row = backend_row(device.backend);
    return row.compiler ? row.compiler(device)->name() : row.built_by;
}

std::optional<int> run_as_backends_child(int argc, char** argv) {
    for (const BackendRow& row : rows()) {
        if (const std::optional<int> status = row.run_as_child == nullptr ? std::nullopt : row.run_as_child(argc, argv)) {
            return status;
        }
    }
    return std::nullopt;
}

}  // namespace normtune
