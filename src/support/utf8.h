// Text that leaves the process is UTF-8: what compilers, drivers and the command line hand us need not be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace normtune {

/// Bytes of the well-formed sequence at the start of `text`; 0: there is none.
std::size_t utf8_sequence_length(std::string_view text);

/// Well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// `text`, with each byte that is not part of a well-formed sequence replaced by U+FFFD.
std::string to_utf8(std::string_view text);

/// Below the blank, or DEL.
inline bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
inline bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

}  // namespace normtune
