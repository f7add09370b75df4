// Which normtune this is.
#pragma once

#include <string_view>

namespace normtune {

std::string_view version();          // "0.1.0"
std::string_view source_revision();  // of the sources' repository: "a1105c3f2b7d", with "-dirty" where files differed; empty outside of one
std::string_view build_compiler();   // what compiled this executable: "GCC 12.2.0"

}  // namespace normtune
