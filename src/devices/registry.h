// Which backends this executable has, which devices are here, and why something is not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/compile/code_compiler.h"
#include "devices/device.h"
#include "space/backend_traits.h"
#include "trial/bits_check.h"

namespace normtune {

struct DeviceReport {
    Backend backend;
    std::optional<DeviceInfo> info;  // empty: not usable
    std::string why_not;             // one line: what is missing and what would mend it
};

/// A backend: all that the rest of the program asks it. `script` is the replay device's file, empty for the others.
struct BackendRow {
    Backend backend;
    std::function<BackendTraits()> traits;  // the planning side; needs no device
    /// Its devices, or one report that says why there is none.
    std::function<std::vector<DeviceReport>(const std::string& script)> find;
    /// What `open` would find, for planning in the parent process. Both throw InputError: no such device, or not usable.
    std::function<DeviceInfo(int ordinal, const std::string& script)> describe;
    std::function<std::unique_ptr<Device>(int ordinal, const std::string& script)> open;
    /// What decides which code runs, as text: equal texts, equal kernels.
    std::function<std::string(const DeviceInfo&, const std::string& script)> kernels;
    bool is_listed = true;                 // by find_devices
    std::vector<DeviceInfo> planned = {};  // well-known devices, for planning with none here
    /// The run-time compiler for a device that need not be here; null: it compiles nothing at run time.
    std::function<std::unique_ptr<CodeCompiler>(const DeviceInfo&)> compiler = nullptr;
    std::string built_by = {};  // compiled the kernels, where they are in the executable
    /// This process as a child that the backend started: its exit status; nothing where the command line is not one's.
    std::optional<int> (*run_as_child)(int argc, char** argv) = nullptr;
    /// Holds a device's clock until the last owner lets go, and gives it back whatever becomes of this process. Null: there is no
    /// such thing. Throws InputError: the driver does not permit it.
    std::function<std::shared_ptr<void>(const DeviceInfo&, int mhz)> lock_clock = nullptr;
    /// That the process's environment makes measurements useless; empty: it does not.
    std::function<std::string()> warning = nullptr;
    /// In a Verifier's place, on a device that computes nothing. `timed`: after the last round.
    std::function<Verification(Device&, const Problem&, const Candidate&, bool timed)> verify = nullptr;
    /// In the place of verify/bits.h, on such a device.
    std::function<BitsCheck(const Device&, const Problem&, const Candidate&)> bits = nullptr;
};

const BackendRow& backend_row(Backend backend);

/// Device `ordinal` of a backend's reports. Throws InputError: it is not there, or not usable.
DeviceInfo described(const std::vector<DeviceReport>& reports, Backend backend, int ordinal);

/// Every listed backend's devices, the best first (GPUs before the CPU). The CPU is always there.
std::vector<DeviceReport> find_devices();

/// Ordinals of a backend's devices that can be used.
std::vector<int> usable_ordinals(Backend backend, const std::string& script);

BackendTraits backend_traits(Backend backend);

/// Architectures that planning knows a device of, with none here.
std::vector<std::string> known_architectures();
std::vector<std::string> known_architectures(Backend backend);

/// A well-known device of an architecture ("sm_90"), for planning where there is none. Throws InputError: unknown.
DeviceInfo describe_architecture(const std::string& arch);

/// Throws InputError: the backend has no run-time compiler, it is not installed, or it does not know the architecture.
std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device);

/// Opens a device in this process, and describes one without opening it. Throw InputError: no such device, and why.
std::unique_ptr<Device> open_device(Backend backend, int ordinal, const std::string& script);
DeviceInfo describe_device(Backend backend, int ordinal, const std::string& script);

/// Which code the device runs, as one digest: of the embedded kernel source and the run-time compiler's name on a GPU, of the
/// executable's build on a CPU, of the script and what it plays on the replay device. Throws InputError: there is no
/// compiler, or no script; SystemError: the executable does not say which build it is.
std::string kernels_digest(const DeviceInfo& device, const std::string& script);

/// What compiles the device's kernels, with its version: "NVRTC 13.0"; empty: nothing does. Throws InputError: the compiler is not
/// installed.
std::string kernels_compiler(const DeviceInfo& device);

/// This process as a backend's own child: its exit status; nothing where the command line is not one's.
std::optional<int> run_as_backends_child(int argc, char** argv);

}  // namespace normtune
