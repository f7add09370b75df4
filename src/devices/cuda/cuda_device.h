// A CUDA device: kernels compiled by NVRTC, launched through the driver API. Used in a worker process only.
#pragma once

#include <memory>

#include "devices/device.h"

namespace normtune::cuda {

/// Throws InputError: no such device; DeviceError: the context cannot be made.
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace normtune::cuda
