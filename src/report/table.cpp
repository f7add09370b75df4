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

std::string Style::faint(std::string_view text) const {
    return color ? fmt::format("\033[2m{}\033[0m", text) : std::string(text);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    for (Column& column : columns_) {
        column.heading = for_terminal(column.heading);
    }
}

void Table::add(std::vector<std::string> cells) {
    if (cells.size() != columns_.size()) {
        throw std::logic_error("a table's row has another number of cells than the table has columns");
    }
    for (std::string& cell : cells) {
        cell = for_terminal(cell);
    }
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t widest = display_width(columns_[i].heading);
        for (const std::vector<std::string>& row : rows_) {
            widest = std::max(widest, display_width(row[i]));
        }
        widths.push_back(widest);
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
    const auto line = [&](const auto& cell_of) {
        std::string out;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            out.append(i == 0 ? 0 : gap, ' ');
            out += pad(cell_of(i), column_widths[i], columns_[i].align);
        }
        return trimmed(std::move(out));
    };
    std::string out = style.bold(line([&](std::size_t i) { return columns_[i].heading; })) + "\n";
    for (const std::vector<std::string>& row : rows_) {
        out += line([&](std::size_t i) { return row[i]; });
        out += '\n';
    }
    return out;
}

std::string Table::markdown() const {
    const auto line = [&](const auto& cell_of) {
        std::string out = "|";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            out += fmt::format(" {} |", for_markdown(cell_of(i)));
        }
        return out + "\n";
    };
    std::string out = line([&](std::size_t i) { return columns_[i].heading; });
    out += "|";
    for (const Column& column : columns_) {
        out += column.align == Align::right ? "--:|" : "---|";
    }
    out += "\n";
    for (const std::vector<std::string>& row : rows_) {
        out += line([&](std::size_t i) { return row[i]; });
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
