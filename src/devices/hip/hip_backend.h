// AMD devices: kernels compiled by hiprtc or clang, launched through the HIP run time.
#pragma once

#include "devices/registry.h"

namespace normtune::hip {

BackendRow backend();

}  // namespace normtune::hip
