// libcuda, opened at run time, so that the build needs no CUDA toolkit. Signatures and constants: CUDA Driver API
// reference, versions 11.8 to 13.
#pragma once

#include <string>

#include "devices/gpu/driver.h"

namespace normtune::cuda {

/// The loaded and initialised driver; null where there is none, and `why_not` says in one line what is missing and
/// what would mend it. Loaded once a process.
const gpu::Driver* load_driver(std::string& why_not);

/// "sm_90". The driver must be loaded. Throws DeviceError: unsupported.
std::string architecture_of(gpu::DeviceId device);

/// "13.0": the newest CUDA that the loaded driver knows.
std::string cuda_version();

}  // namespace normtune::cuda
