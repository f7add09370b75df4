// Foreign text inside messages.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// Text in quotes, fit for a one-line message: control characters escaped ("\x0a"), what is not UTF-8 replaced, and cut
/// after some 60 bytes.
std::string quoted_for_message(std::string_view text);

}  // namespace normtune
