#include "report/table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {
namespace {

constexpr std::size_t gap = 2;  // spaces between columns

std::string pad(std::string cell, std::size_t width, Align align) {
    const std::size_t missing = width - std::min(width, display_width(cell));
    cell.insert(align == Align::left ? cell.size() : 0, missing, ' ');
    return cell;
}

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::string Style::bold(std::string_view text) const {
    return color ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

Table::Table(std::string_view columns) {
    while (true) {
        const std::size_t bar = columns.find('|');
        const bool right = columns.starts_with('>');
        add_column(std::string(columns.substr(0, bar).substr(right ? 1 : 0)), right ? Align::right : Align::left);
        if (bar == std::string_view::npos) {
            return;
        }
        columns.remove_prefix(bar + 1);
    }
}

void Table::add_column(std::string heading, Align align) {
    lines_.front().push_back(for_terminal(heading));
    aligns_.push_back(align);
}

void Table::add(std::vector<std::string> cells) {
    if (cells.size() != aligns_.size()) {
        throw std::logic_error("a table's row has another number of cells than the table has columns");
    }
    for (std::string& cell : cells) {
        cell = for_terminal(cell);
    }
    lines_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths(aligns_.size(), 0);
    for (const std::vector<std::string>& line : lines_) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(line[i]));
        }
    }
    return widths;
}

std::size_t Table::width() const {
    std::size_t sum = 0;
    for (const std::size_t width : widths()) {
        sum += (sum == 0 ? 0 : gap) + width;
    }
    return sum;
}

std::string Table::text(const Style& style) const {
    const std::vector<std::size_t> column_widths = widths();
    std::string out;
    for (const std::vector<std::string>& cells : lines_) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            line.append(i == 0 ? 0 : gap, ' ');
            line += pad(cells[i], column_widths[i], aligns_[i]);
        }
        line = trimmed(std::move(line));
        out += (out.empty() ? style.bold(line) : line) + "\n";
    }
    return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string Table::markdown() const {
    std::string out;
    for (const std::vector<std::string>& cells : lines_) {
        const bool heading = out.empty();
        std::vector<std::string> escaped;
        std::transform(cells.begin(), cells.end(), std::back_inserter(escaped), [](const std::string& cell) { return for_markdown(cell); });
        out += markdown_row(escaped);
        for (std::size_t i = 0; heading && i < aligns_.size(); ++i) {
            out += i == 0 ? "|" : "";
            out += aligns_[i] == Align::right ? "--:|" : "---|";
        }
        out += heading ? "\n" : "";
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
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
