// An AMD GPU: kernels compiled by hiprtc (or clang), launched through HIP's run time. Used in a worker process only.
#pragma once

#include <memory>

#include "devices/device.h"

namespace normtune::hip {

/// Throws InputError: no such device; DeviceError: it does not start.
std::unique_ptr<Device> open_hip_device(int ordinal);

}  // namespace normtune::hip
