#include "support/quote.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/utf8.h"

namespace normtune {

std::string quoted_for_message(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::string out = "'";
    std::size_t used = 0;
    while (used < text.size() && used < longest) {
        const std::string_view rest = text.substr(used);
        const auto byte = static_cast<unsigned char>(rest.front());
        const std::size_t length = std::max<std::size_t>(1, utf8_sequence_length(rest));
        out += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : to_utf8(rest.substr(0, length));
        used += length;
    }
    return out + (used < text.size() ? "…'" : "'");
}

}  // namespace normtune
