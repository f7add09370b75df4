// Which build of the executable this is.
#pragma once

#include <string>

namespace normtune {

/// The linker's digest of the running executable, as hexadecimal digits: another build, another one. Empty where the linker wrote none.
std::string build_id();

}  // namespace normtune
