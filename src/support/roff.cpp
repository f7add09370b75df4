#include "support/roff.h"

namespace normtune {
namespace {

/// How a character is written where roff would take it for something else; empty: as it is.
std::string_view escape(char c) {
    switch (c) {
        case '\\':
            return "\\(rs";
        case '-':  // else a hyphen, which no shell takes for a minus
            return "\\-";
        case '\'':
            return "\\(aq";
        case '`':
            return "\\(ga";
        case '^':
            return "\\(ha";
        case '~':
            return "\\(ti";
        case '"':
            return "\\(dq";
        default:
            return {};
    }
}

}  // namespace

std::string roff_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '.' && (out.empty() || out.back() == '\n')) {
            out += "\\&";
        }
        const std::string_view escaped = escape(c);
        if (escaped.empty()) {
            out += c;
        } else {
            out += escaped;
        }
    }
    return out;
}

}  // namespace normtune
