// Text for manual pages (man(7)).
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// The text as it is, whatever roff would make of it: no requests, no escapes, hyphens and quotes that can be copied. Lines stay lines.
std::string roff_text(std::string_view text);

}  // namespace normtune
