// Which normtune this is.
#pragma once

#include <string_view>

namespace normtune {

std::string_view version();  // "0.1.0"

}  // namespace normtune
