// Text tables: columns aligned, ASCII rules, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normtune {

enum class Align { left, right };

/// Emphasis with ANSI escapes, or none.
struct Style {
    bool color = false;
    std::string bold(std::string_view text) const;
};

class Table {
public:
    Table() = default;
    /// "problem|>points|pruned by": headings, those of right-aligned columns after a '>'.
    explicit Table(std::string_view columns);
    void add_column(std::string heading, Align align = Align::left);
    /// As many cells as there are columns; what a terminal would obey in them is made visible.
    void add(std::vector<std::string> cells);
    bool empty() const { return lines_.size() == 1; }
    /// Characters of the longest line.
    std::size_t width() const;
    /// A heading line, then one line a row; each ends with a newline, none with a space.
    std::string text(const Style& style) const;
    /// The same as a table of GitHub's markdown; cells are text, not markup.
    std::string markdown() const;

private:
    std::vector<std::size_t> widths() const;
    std::vector<Align> aligns_;
    std::vector<std::vector<std::string>> lines_{1};  // the headings first
};

/// A row of such a table.
std::string markdown_row(const std::vector<std::string>& cells);

/// Characters of UTF-8 text (code points; wide and combining ones count as one).
std::size_t display_width(std::string_view text);

/// "0.734", "12.3", "46.9", "1250": three significant digits or all before the point.
std::string three_digits(double value);
/// "1,234,567".
std::string grouped(std::uint64_t value);
/// "512 B", "32 KiB", "1.5 MiB", "2 GiB".
std::string byte_text(std::int64_t bytes);
/// "8 s", "3 min 20 s", "2 h 5 min".
std::string time_text(double seconds);

}  // namespace normtune
