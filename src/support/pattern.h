// Names selected as in a shell.
#pragma once

#include <string_view>

namespace normtune {

/// '*' stands for any characters, '?' for any one; letters match whatever their case.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace normtune
