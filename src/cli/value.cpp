#include "cli/value.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace normtune::cli {
namespace {

constexpr std::string_view duration_units[] = {"ms", "s", "m", "h"};
constexpr double seconds_of_unit[] = {1e-3, 1, 60, 3600};

std::string seconds_text(double seconds) {
    if (seconds < 1) {
        return fmt::format("{}ms", seconds * 1e3);
    }
    return seconds >= 3600 ? fmt::format("{}h", seconds / 3600) : fmt::format("{}s", seconds);
}

}  // namespace

std::int64_t parse_whole_number(const std::string& word, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool number = end == word.data() + word.size() && error != std::errc::invalid_argument;
    if (!number || error == std::errc::result_out_of_range || value < least || value > most) {
        throw InputError(
            fmt::format("'{}' is {}; give one from {} to {}", word, number ? "out of range" : "not a whole number", least, most));
    }
    return value;
}

double parse_number(const std::string& word, double least, double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !(value >= least && value <= most)) {
        throw InputError(fmt::format("'{}' will not do; give a number from {} to {}", word, least, most));
    }
    return value;
}

double parse_percent(const std::string& word, double least, double most) {
    const std::string number = word.ends_with('%') ? word.substr(0, word.size() - 1) : word;
    try {
        return parse_number(number, least, most);
    } catch (const InputError&) {
        throw InputError(fmt::format("'{}' will not do; give a percentage from {}% to {}%", word, least, most));
    }
}

double parse_duration(const std::string& word, double least_s, double most_s) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, std::chars_format::fixed);
    const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
    const auto* const found = std::find(std::begin(duration_units), std::end(duration_units), unit);
    if (error != std::errc{} || found == std::end(duration_units) || !std::isfinite(number)) {
        throw InputError(fmt::format("'{}' is not a duration; give a number and its unit, as in 500ms, 90s, 5m or 2h", word));
    }
    const double seconds = number * seconds_of_unit[found - std::begin(duration_units)];
    if (!(seconds >= least_s && seconds <= most_s)) {
        throw InputError(fmt::format("'{}' is out of range; give one from {} to {}", word, seconds_text(least_s), seconds_text(most_s)));
    }
    return seconds;
}

std::string parse_word(const std::string& word, const std::vector<std::string>& words) {
    if (std::find(words.begin(), words.end(), word) == words.end()) {
        const std::vector<std::string_view> known(words.begin(), words.end());
        throw InputError(fmt::format("unknown '{}'{}", word, suggestion(word, known.data(), known.data() + known.size())));
    }
    return word;
}

void require_no_stream(const std::string& word) {
    if (word == "-") {
        throw InputError("'-' is standard output, and a folder is needed; ./- is one of that name");
    }
}

std::string alternatives(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, "|"));
}

}  // namespace normtune::cli
