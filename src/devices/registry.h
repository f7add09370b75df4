// Which backends this executable has, which devices are here, and why something is not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/compile/code_compiler.h"
#include "devices/device.h"
#include "space/backend_traits.h"

namespace normtune {

struct DeviceReport {
    Backend backend;
    std::optional<DeviceInfo> info;  // empty: not usable
    std::string why_not;             // one line: what is missing and what would mend it
};

/// Device `ordinal` of a backend's reports. Throws InputError: it is not there, or not usable.
DeviceInfo described(const std::vector<DeviceReport>& reports, Backend backend, int ordinal);

/// Every backend's devices, the best first (GPUs before the CPU). The CPU is always there. Replay is never listed.
std::vector<DeviceReport> find_devices();

/// Ordinals of a backend's devices that can be used; `script` as for open_device.
std::vector<int> usable_ordinals(Backend backend, const std::string& script);

/// The planning side of a backend; needs no device.
BackendTraits backend_traits(Backend backend);

/// Architectures that planning knows a device of, with none here.
std::vector<std::string> known_architectures();
std::vector<std::string> known_architectures(Backend backend);

/// A well-known device of an architecture ("sm_90"), for planning where there is none. Throws InputError: unknown.
DeviceInfo describe_architecture(const std::string& arch);

/// The run-time compiler of a device that need not be here. Throws InputError: the backend has none, it is not
/// installed, or it does not know the architecture.
std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device);

/// Opens a device in this process. `script` is the replay device's file, empty for the others.
/// Throws InputError: no such device, with the reason from its report.
std::unique_ptr<Device> open_device(Backend backend, int ordinal, const std::string& script);

/// What `open_device` would find, without opening it: for planning in the parent process.
DeviceInfo describe_device(Backend backend, int ordinal, const std::string& script);

}  // namespace normtune
