// Text tables: columns aligned, ASCII rules, nothing else; blocks where a line has no room for them. Also as markdown and CSV.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace normtune {

enum class Align { left, right };
enum class Tone { plain, good, bad, unsure };

/// Emphasis with ANSI escapes, or none; and the room that a line has.
struct Style {
    bool color = false;
    std::size_t width = 0;  // columns; 0: as many as it takes

    std::string bold(std::string_view text) const;
    std::string toned(std::string_view text, Tone tone) const;
};

class Table {
public:
    Table() = default;
    /// "problem|>points|pruned by": headings, those of right-aligned columns after a '>'.
    explicit Table(std::string_view columns);
    void add_column(std::string heading, Align align = Align::left);
    /// As many cells as there are columns; what a terminal would obey in them is made visible. The tone is the first cell's.
    void add(std::vector<std::string> cells, Tone tone = Tone::plain);
    /// A last row, of sums: it is neither sorted nor cut off.
    void add_sums(std::vector<std::string> cells);
    bool empty() const { return lines_.size() == 1; }
    const std::vector<std::string>& headings() const { return lines_.front(); }
    const std::vector<std::vector<std::string>>& lines() const { return lines_; }

    /// By the column of that heading: right-aligned ones by their numbers, what has none last. False: there is no such column.
    bool sort(std::string_view heading, bool descending);
    bool is_number(std::string_view heading) const;
    /// The first rows alone; how many were left out.
    std::size_t keep(std::size_t most);

    /// A heading line, then one line a row; each ends with a newline, none with a space. Where that is wider than the style allows,
    /// cells of several words take several lines, and where that does not do, each row is a block of lines.
    std::string text(const Style& style) const;
    /// The same as a table of GitHub's markdown; cells are text, not markup.
    std::string markdown() const;
    /// RFC 4180, the headings first.
    std::string csv() const;

private:
    std::vector<std::size_t> widths() const;
    bool fit(std::vector<std::size_t>& widths, std::size_t width) const;
    std::string rows(const std::vector<std::size_t>& widths, const Style& style) const;
    std::string blocks(const Style& style) const;
    std::vector<Align> aligns_;
    std::vector<std::vector<std::string>> lines_{1};  // the headings first
    std::vector<Tone> tones_{Tone::plain};            // of each line
    std::size_t sums_ = 0;
};

/// Headings of tables that are written as Table's constructor takes them, each once.
std::vector<std::string> headings_of(std::initializer_list<std::string_view> tables);

/// A row of such a table.
std::string markdown_row(const std::vector<std::string>& cells);

/// Characters of UTF-8 text (code points; wide and combining ones count as one).
std::size_t display_width(std::string_view text);

/// At most so wide, broken between words; a longer word after one of its points, slashes, commas or colons, or else not at all.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// Paragraphs, each ended by a newline, in lines of what the style allows, 120 columns at most; what follows a first line is
/// indented. Commands ("repeat: …") stay whole: they are pasted.
std::string prose(std::string_view text, const Style& style);

/// "0.734", "12.3", "46.9", "1250": three significant digits or all before the point.
std::string three_digits(double value);
/// "1,234,567".
std::string grouped(std::uint64_t value);
/// "512 B", "32 KiB", "1.5 MiB", "2 GiB".
std::string byte_text(std::int64_t bytes);
/// "8 s", "3 min 20 s", "2 h 5 min".
std::string time_text(double seconds);

}  // namespace normtune
