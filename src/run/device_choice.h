// Which devices a command works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/sweep.h"
#include "space/device_info.h"

namespace normtune {

/// What a user says of devices; the defaults: the best one found.
struct DeviceWish {
    std::optional<Backend> backend;
    std::vector<int> ordinals;  // of the backend's devices
    bool all = false;           // every device of the backend
    std::string replay_script;
};

struct DeviceChoice {
    Backend backend = Backend::cpu;
    std::vector<int> ordinals;  // the first one's device is described
    std::string replay_script;
    DeviceInfo info;

    void set(SweepOptions& options) const;
};

/// Devices of one backend, one or more. Throws InputError: no such device, with the reason, or words that exclude each other.
DeviceChoice choose_devices(const DeviceWish& wish);

}  // namespace normtune
