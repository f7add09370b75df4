#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/table.h"

namespace normtune {
namespace {

constexpr std::size_t widest_prose = 120;

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) {
            out.push_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// Bytes of the longest beginning that ends with a break and is at most so wide; else up to the first break; 0: there is none.
std::size_t break_of(std::string_view word, std::size_t width) {
    std::size_t found = 0;
    for (std::size_t at = 0; at + 1 < word.size(); ++at) {
        if (std::string_view("./,:|;").find(word[at]) == std::string_view::npos) {
            continue;
        }
        if (found > 0 && display_width(word.substr(0, at + 1)) > width) {
            break;
        }
        found = at + 1;
    }
    return found;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    const auto end_line = [&] {
        if (!line.empty()) {
            lines.push_back(std::move(line));
            line.clear();
        }
    };
    for (std::string_view word : words_of(text)) {
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
            end_line();
        }
        while (display_width(word) > width) {
            const std::size_t part = break_of(word, width);
            if (part == 0) {
                break;
            }
            lines.emplace_back(word.substr(0, part));
            word.remove_prefix(part);
        }
        line += line.empty() ? "" : " ";
        line += word;
    }
    end_line();
    return lines.empty() ? std::vector<std::string>{""} : lines;
}

std::string prose(std::string_view text, const Style& style) {
    const std::size_t width = style.width == 0 ? widest_prose : std::min(style.width, widest_prose);
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        if (display_width(line) <= width || line.substr(indent).starts_with("repeat: ")) {
            out += fmt::format("{}\n", line);
            continue;
        }
        const std::vector<std::string> lines = wrapped(line, width - std::min(indent + 2, width / 2));
        for (std::size_t i = 0; i < lines.size(); ++i) {
            out += fmt::format("{:{}}{}\n", "", i == 0 ? indent : indent + 2, lines[i]);
        }
    }
    return out;
}

std::string three_digits(double value) {
    if (!std::isfinite(value)) {
        return fmt::format("{}", value);
    }
    const double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

std::string grouped(std::uint64_t value) {
    std::string digits = fmt::format("{}", value);
    for (std::size_t place = digits.size(); place > 3;) {
        place -= 3;
        digits.insert(place, 1, ',');
    }
    return digits;
}

std::string byte_text(std::int64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    return value == std::floor(value) ? fmt::format("{} {}", value, units[unit]) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string time_text(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e12)));
    if (whole < 60) {
        return fmt::format("{} s", whole);
    }
    if (whole < 3600) {
        return fmt::format("{} min {} s", whole / 60, whole % 60);
    }
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace normtune
