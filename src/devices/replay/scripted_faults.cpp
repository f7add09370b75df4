#include "devices/replay/scripted_faults.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "devices/device.h"
#include "support/error.h"

namespace normtune {

void ScriptedFaults::hang() {
    while (true) {
        pause();
    }
}

/// Is there while the device is lost: to this process's successors, too.
std::string ScriptedFaults::lost_marker() const {
    return fmt::format("{}.lost-{}", script_.file, script_.device.ordinal);
}

void ScriptedFaults::refuse_if_lost() const {
    if (std::filesystem::exists(lost_marker())) {
        throw InputError(fmt::format("replay device {} is lost; remove {} to have it back", script_.device.ordinal, lost_marker()));
    }
}

const ScriptedFault* ScriptedFaults::play(Moment at, const std::string& problem_key, const std::string& config_key) {
    for (std::size_t i = 0; i < script_.faults.size(); ++i) {
        const ScriptedFault& fault = script_.faults[i];
        if (fault.at != at || fault.device.value_or(script_.device.ordinal) != script_.device.ordinal ||
            !fault.trials.matches(problem_key, config_key)) {
            continue;
        }
        const std::int64_t occasion = ++seen_[i];
        if (occasion >= fault.from && (fault.times == 0 || occasion < fault.from + fault.times)) {
            commit(fault);
            if (fault.kind != FaultKind::print) {
                return &fault;
            }
        }
    }
    return nullptr;
}

void ScriptedFaults::commit(const ScriptedFault& fault) const {
    switch (fault.kind) {
        case FaultKind::crash:
            // A sanitizer's handler would turn the signal into an exit.
            signal(fault.signal, SIG_DFL);
            raise(fault.signal);
            break;
        case FaultKind::lose:
            std::ofstream(lost_marker()) << fault.text << '\n';
            _exit(fault.status);
        case FaultKind::exit:
            _exit(fault.status);
        case FaultKind::hang:
            hang();
        case FaultKind::throw_:
            throw std::runtime_error(fault.text);
        case FaultKind::bad_alloc:
            throw std::bad_alloc();
        case FaultKind::unsupported:
            throw DeviceError(DeviceFault::unsupported, fault.text);
        case FaultKind::compile_failed:
            throw DeviceError(DeviceFault::compile_failed, fault.text);
        case FaultKind::launch_failed:
            throw DeviceError(DeviceFault::launch_failed, fault.text);
        case FaultKind::out_of_memory:
            throw DeviceError(DeviceFault::out_of_memory, fault.text);
        case FaultKind::print:
            std::printf("%s\n", fault.text.c_str());
            std::fflush(stdout);
            break;
        case FaultKind::incorrect:
        case FaultKind::throttle:
        case FaultKind::bad_sample:
            break;
    }
}

}  // namespace normtune
