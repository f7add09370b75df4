#include "report/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "support/csv.h"
#include "support/escape.h"

namespace normtune {
namespace {

constexpr std::size_t gap = 2;               // spaces between columns
constexpr std::size_t narrowest_prose = 24;  // of a column whose cells take several lines

std::string pad(std::string cell, std::size_t width, Align align) {
    const std::size_t missing = width - std::min(width, display_width(cell));
    cell.insert(align == Align::left ? cell.size() : 0, missing, ' ');
    return cell;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        longest = std::max(longest, display_width(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return longest;
}

/// The number that a cell begins with: "1,234", "+3.1%", "x12.5", "1.3% ±0.4".
double number_of(std::string_view cell) {
    std::string digits;
    for (const char c : cell.substr(std::min(cell.find_first_of("-0123456789."), cell.size()))) {
        if (c != ',') {
            digits += c;
        }
    }
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} ? value : std::nan("");
}

/// "name value, name value": parts on as many indented lines as it takes.
std::string flow(const std::vector<std::string>& parts, std::size_t width) {
    const std::size_t room = width > 4 ? width - 2 : 2;
    std::string out;
    std::string line;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
        if (!line.empty() && display_width(line) + 1 + display_width(part) <= room) {
            line += ' ' + part;
            continue;
        }
        out += line.empty() ? "" : "  " + line + "\n";
        const std::vector<std::string> lines = display_width(part) <= room ? std::vector{part} : wrapped(part, room - 2);
        for (std::size_t l = 0; l + 1 < lines.size(); ++l) {
            out += (l == 0 ? "  " : "    ") + lines[l] + "\n";
        }
        line = (lines.size() > 1 ? "  " : "") + lines.back();
    }
    return out + (line.empty() ? "" : "  " + line + "\n");
}

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::string Style::bold(std::string_view text) const {
    return color ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string Style::toned(std::string_view text, Tone tone) const {
    if (!color || tone == Tone::plain) {
        return std::string(text);
    }
    return fmt::format("\033[{}m{}\033[0m", tone == Tone::good ? 32 : tone == Tone::bad ? 31 : 33, text);
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

std::vector<std::string> headings_of(std::initializer_list<std::string_view> tables) {
    std::vector<std::string> out;
    for (const std::string_view columns : tables) {
        const Table table(columns);
        for (const std::string& heading : table.headings()) {
            if (std::find(out.begin(), out.end(), heading) == out.end()) {
                out.push_back(heading);
            }
        }
    }
    return out;
}

void Table::add_column(std::string heading, Align align) {
    lines_.front().push_back(for_terminal(heading));
    aligns_.push_back(align);
}

void Table::add(std::vector<std::string> cells, Tone tone) {
    if (cells.size() != aligns_.size()) {
        throw std::logic_error("a table's row has another number of cells than the table has columns");
    }
    for (std::string& cell : cells) {
        cell = for_terminal(cell);
    }
    lines_.push_back(std::move(cells));
    tones_.push_back(tone);
}

void Table::add_sums(std::vector<std::string> cells) {
    add(std::move(cells));
    ++sums_;
}

bool Table::is_number(std::string_view heading) const {
    const auto found = std::find(headings().begin(), headings().end(), heading);
    return found != headings().end() && aligns_[static_cast<std::size_t>(found - headings().begin())] == Align::right;
}

bool Table::sort(std::string_view heading, bool descending) {
    const auto found = std::find(headings().begin(), headings().end(), heading);
    if (found == headings().end()) {
        return false;
    }
    const auto column = static_cast<std::size_t>(found - headings().begin());
    const bool numbers = is_number(heading);
    std::vector<std::size_t> order(lines_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin() + 1, order.end() - static_cast<std::ptrdiff_t>(sums_), [&](std::size_t a, std::size_t b) {
        const std::string& one = lines_[a][column];
        const std::string& other = lines_[b][column];
        if (!numbers) {
            return descending ? one > other : one < other;
        }
        const double x = number_of(one);
        const double y = number_of(other);
        return std::isnan(x) || std::isnan(y) ? std::isnan(y) && !std::isnan(x) : descending ? x > y : x < y;
    });
    std::vector<std::vector<std::string>> lines;
    std::vector<Tone> tones;
    for (const std::size_t i : order) {
        lines.push_back(std::move(lines_[i]));
        tones.push_back(tones_[i]);
    }
    lines_ = std::move(lines);
    tones_ = std::move(tones);
    return true;
}

std::size_t Table::keep(std::size_t most) {
    const std::size_t rows = lines_.size() - 1 - sums_;
    if (rows <= most) {
        return 0;
    }
    const auto cut = [&](auto& list) {
        list.erase(list.begin() + 1 + static_cast<std::ptrdiff_t>(most), list.end() - static_cast<std::ptrdiff_t>(sums_));
    };
    cut(lines_);
    cut(tones_);
    return rows - most;
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

/// Makes columns of prose narrower, the widest first, until a line has room for all. False: it has not.
bool Table::fit(std::vector<std::size_t>& widths, std::size_t width) const {
    std::size_t sum = gap * (widths.size() - 1) + std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    std::vector<std::size_t> least = widths;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (aligns_[i] == Align::left && widths[i] > narrowest_prose) {
            least[i] = narrowest_prose;
            for (const std::vector<std::string>& line : lines_) {
                least[i] = std::max(least[i], longest_word(line[i]));
            }
        }
    }
    while (sum > width) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i) {
            widest = widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest]) ? i : widest;
        }
        if (widest == widths.size()) {
            return false;
        }
        const std::size_t cut = std::min(sum - width, widths[widest] - least[widest]);
        widths[widest] -= cut;
        sum -= cut;
    }
    return true;
}

std::string Table::rows(const std::vector<std::size_t>& column_widths, const Style& style) const {
    std::string out;
    for (std::size_t row = 0; row < lines_.size(); ++row) {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 1;
        for (std::size_t i = 0; i < aligns_.size(); ++i) {
            const std::string& cell = lines_[row][i];
            cells.push_back(display_width(cell) <= column_widths[i] ? std::vector{cell} : wrapped(cell, column_widths[i]));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t part = 0; part < height; ++part) {
            std::string line;
            for (std::size_t i = 0; i < cells.size(); ++i) {
                line.append(i == 0 ? 0 : gap, ' ');
                line += pad(part < cells[i].size() ? cells[i][part] : "", column_widths[i], aligns_[i]);
            }
            line = trimmed(std::move(line));
            const bool toned = aligns_[0] == Align::left && part < cells[0].size();
            const std::size_t first = toned ? std::min(cells[0][part].size(), line.size()) : 0;
            out += row == 0 ? style.bold(line) : (first > 0 ? style.toned(line.substr(0, first), tones_[row]) : "") + line.substr(first);
            out += '\n';
        }
    }
    return out;
}

std::string Table::blocks(const Style& style) const {
    std::string out;
    for (std::size_t row = 1; row < lines_.size(); ++row) {
        const std::vector<std::string>& cells = lines_[row];
        const std::string title = aligns_.front() == Align::left ? cells[0] : headings()[0] + " " + cells[0];
        for (const std::string& line : wrapped(title, style.width)) {
            out += (tones_[row] == Tone::plain ? style.bold(line) : style.toned(line, tones_[row])) + "\n";
        }
        std::vector<std::string> parts;
        for (std::size_t i = 1; i < cells.size(); ++i) {
            if (!cells[i].empty()) {
                parts.push_back(headings()[i].empty() ? cells[i] : headings()[i] + " " + cells[i]);
            }
        }
        out += flow(parts, style.width);
    }
    return out;
}

std::string Table::text(const Style& style) const {
    std::vector<std::size_t> column_widths = widths();
    return style.width > 0 && !fit(column_widths, style.width) ? blocks(style) : rows(column_widths, style);
}

std::string Table::csv() const {
    std::string out;
    for (std::vector<std::string> line : lines_) {
        std::transform(line.begin(), line.end(), line.begin(), report_for_terminal);  // a CI's runner may see it
        out += csv_line(line);
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

}  // namespace normtune
