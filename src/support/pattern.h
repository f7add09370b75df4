// Names selected as in a shell, and lists of them.
#pragma once

#include <string_view>
#include <vector>

namespace normtune {

/// '*' stands for any characters, '?' for any one; letters match whatever their case.
bool matches_pattern(std::string_view pattern, std::string_view text);

/// The parts of a text between separators; of an empty text one that is empty.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace normtune
