#include "support/csv.h"

#include <cmath>

#include <fmt/format.h>

#include "support/utf8.h"

namespace normtune {

std::string csv_field(std::string_view text) {
    const std::string clean = to_utf8(text);
    // Blanks at the ends belong to the field, but some readers trim them unless they are quoted.
    const bool blank_end = !clean.empty() && (clean.front() == ' ' || clean.back() == ' ');
    const bool quoted = blank_end || clean.find_first_of(",\"\r\n") != std::string::npos;
    std::string out = quoted ? "\"" : "";
    for (const char c : clean) {
        if (c == '\0') {
            out += "\xEF\xBF\xBD";
        } else if (c == '"') {
            out += "\"\"";
        } else {
            out += c;
        }
    }
    return quoted ? out + '"' : out;
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string out;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        out += i == 0 ? "" : ",";
        out += csv_field(fields[i]);
    }
    return out + "\r\n";
}

std::string csv_number(double value, int decimals) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string();
}

}  // namespace normtune
