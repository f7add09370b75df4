#include "support/error.h"

#include <fmt/format.h>

#include "support/utf8.h"

namespace normtune {

InputError::InputError(std::string_view file, int line, std::string_view message)
    : std::runtime_error(line > 0 ? fmt::format("{}:{}: {}", file, line, message) : fmt::format("{}: {}", file, message)) {}

std::string quoted_for_message(std::string_view text) {
    constexpr std::size_t longest = 60;
    constexpr std::size_t longest_character = 4;
    const std::string clean = to_utf8(text.substr(0, longest + longest_character));
    std::string out = "'";
    for (std::size_t i = 0; i < clean.size(); ++i) {
        const auto byte = static_cast<unsigned char>(clean[i]);
        const bool at_character = (byte & 0xc0) != 0x80;  // not inside a UTF-8 sequence
        if (i >= longest && at_character) {
            return out + "…'";
        }
        out += byte < 0x20 || byte == 0x7f ? '?' : clean[i];
    }
    return out + "'";
}

}  // namespace normtune
