// A device that computes nothing: it plays a script's times and faults, or the records of an earlier run.
#pragma once

#include <memory>
#include <string>

#include "devices/device.h"
#include "space/backend_traits.h"

namespace normtune {

/// It expresses every configuration.
BackendTraits replay_traits();

/// `script` is a file's path; it says how many devices it plays. Throw InputError.
std::unique_ptr<Device> open_replay(const std::string& script, int ordinal);
DeviceInfo describe_replay(const std::string& script, int ordinal);
int replay_device_count(const std::string& script);

}  // namespace normtune
