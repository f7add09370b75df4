// libamdhip64, opened at run time, so that the build needs no ROCm. Signatures, constants and layouts: HIP Runtime API
// reference, ROCm 5.2 to 7.
#pragma once

#include <string>
#include <vector>

#include "devices/gpu/driver.h"

namespace normtune::hip {

/// A library ("libamdhip64") of ROCm 7, 6 and 5, in that order: below ROCM_PATH and HIP_PATH, by soname, below /opt/rocm.
std::vector<std::string> rocm_libraries(const std::string& stem);

/// The loaded and initialised run time; null where there is none, and `why_not` says in one line what is missing and
/// what would mend it. Loaded once a process.
const gpu::Driver* load_runtime(std::string& why_not);

/// "gfx90a": its features (":sramecc+:xnack-") left out. The run time must be loaded. Throws DeviceError: unsupported.
std::string architecture_of(gpu::DeviceId device);

/// "6.2": of the loaded run time.
std::string runtime_version();

}  // namespace normtune::hip
