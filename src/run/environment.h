// Where and as what a run took place.
#pragma once

#include <string>

#include "trial/record.h"

namespace normtune {

/// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0".
std::string operating_system();
Environment describe_environment(const DeviceInfo& device, std::uint64_t seed);

}  // namespace normtune
