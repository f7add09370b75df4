// Where and as what a run took place.
#pragma once

#include <string_view>

#include "store/record.h"

namespace normtune {

std::string_view normtune_version();
/// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0".
std::string operating_system();
Environment describe_environment(const DeviceInfo& device, std::uint64_t seed);

}  // namespace normtune
