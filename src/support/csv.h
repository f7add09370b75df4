// CSV as RFC 4180 has it: CRLF line ends, quotes around what needs them, quotes doubled inside.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normtune {

/// One field. Text is made UTF-8; a NUL byte, which CSV readers stop at, becomes U+FFFD; text that spreadsheets would take for a
/// formula ("=cmd|…") gets a ' before it, which CsvReader takes off again.
std::string csv_field(std::string_view text);
/// One line with its CRLF.
std::string csv_line(const std::vector<std::string>& fields);

/// Of a field as it was written: does it have that ' before it?
bool has_formula_guard(std::string_view field);

/// A number with a fixed count of decimals and a '.', whatever the locale; empty where it is not finite.
std::string csv_number(double value, int decimals);

/// A number as CSV files have it (blanks around it, a sign, nan, inf); empty where it is none.
std::optional<double> csv_real(std::string_view text);

}  // namespace normtune
