// CUDA devices: kernels compiled by NVRTC, launched through the driver API.
#pragma once

#include "devices/registry.h"

namespace normtune::cuda {

BackendRow backend();

}  // namespace normtune::cuda
