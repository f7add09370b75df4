// What decides which code a device runs, as one digest.
#pragma once

#include <string>

#include "space/device_info.h"

namespace normtune {

/// Of the embedded kernel source and the run-time compiler's name on a GPU, of the executable's build on a CPU, of the
/// script and what it plays on the replay device. Equal digests, equal kernels. Throws InputError: there is no
/// compiler, or no script; SystemError: the executable does not say which build it is.
std::string kernels_digest(const DeviceInfo& device, const std::string& replay_script);

}  // namespace normtune
