// What goes wrong on a replay device, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/replay/replay_script.h"

namespace normtune {

/// The faults of a script as one worker process meets them.
class ScriptedFaults {
public:
    /// `script` outlives this; its device is the one that is played.
    explicit ScriptedFaults(const ReplayScript& script) : script_(script), seen_(script.faults.size()) {}

    /// Throws InputError where an earlier worker lost the device.
    void refuse_if_lost() const;
    /// Plays the first fault that is due, and prints on the way; returns it where it is the caller's to show. May end
    /// the process, or throw what the fault says.
    const ScriptedFault* play(Moment at, const std::string& problem_key, const std::string& config_key);

    [[noreturn]] static void hang();

private:
    std::string lost_marker() const;
    void commit(const ScriptedFault& fault) const;

    const ReplayScript& script_;
    std::vector<std::int64_t> seen_;  // occasions of each fault so far
};

}  // namespace normtune
