#include "support/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "support/utf8.h"

namespace normtune {

namespace {

/// Does it begin as formulas do? Signs of numbers ("-0.7%") are none.
bool is_formula(std::string_view text) {
    constexpr std::string_view of_numbers = "0123456789.,eE+-% ";
    const bool sign = text.starts_with('+') || text.starts_with('-');
    return sign ? text.find_first_not_of(of_numbers) != std::string_view::npos
                : !text.empty() && std::string_view("=@\t\r").find(text.front()) != std::string_view::npos;
}

std::string_view without_quotes(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('\''), text.size()));
}

}  // namespace

bool has_formula_guard(std::string_view field) {
    return field.starts_with('\'') && is_formula(without_quotes(field));
}

std::string csv_field(std::string_view text) {
    std::string clean = to_utf8(text);
    if (is_formula(without_quotes(clean))) {
        clean.insert(0, 1, '\'');
    }
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

std::optional<double> csv_real(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
        return std::nullopt;
    }
    // Out of range: too large for a double, or too small; either way no time and no size of ours.
    return error == std::errc::result_out_of_range ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace normtune
