// Keys: the leading parts, one an axis, then a part for each further axis that differs from its default.
#include "space/configuration.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "space/axes.h"
#include "support/error.h"
#include "support/escape.h"

namespace normtune {
namespace {

using Place = AxisKey::Place;

bool is_leading(const AxisRow& row) {
    return row.key.place == Place::always;
}

/// A word in place of a number stands without the prefix: "row", "b128".
bool has_prefix(const AxisRow& row, int value) {
    return !row.domain.names.empty() || row.domain.is_number(value);
}

std::string value_text(const AxisRow& row, int value) {
    const std::string text = value == row.key.short_value ? std::string(row.key.short_name) : axis_text(row.axis, value);
    return (has_prefix(row, value) ? std::string(row.key.prefix) : "") + text;
}

/// What value_text writes; nullopt: something else.
std::optional<int> value_of(const AxisRow& row, std::string_view text) {
    const bool prefixed = text.starts_with(row.key.prefix);
    text.remove_prefix(prefixed ? row.key.prefix.size() : 0);
    if (!row.key.short_name.empty() && text == row.key.short_name) {
        return prefixed ? std::optional(row.key.short_value) : std::nullopt;
    }
    const std::optional<int> value = axis_parse(row.axis, text);
    return value && value != row.key.short_value && has_prefix(row, *value) == prefixed ? value : std::nullopt;
}

std::string wanted(const AxisRow& row) {
    if (row.domain.names.empty()) {
        AxisDomain numbers = row.domain;
        numbers.zero = {};
        return fmt::format("{}<{}>, {}", row.key.prefix, row.name, numbers.wanted());
    }
    std::vector<std::string> texts;
    for (int value = 0; value < static_cast<int>(row.domain.names.size()); ++value) {
        texts.push_back(value_text(row, value).substr(row.key.prefix.size()));
    }
    const std::string before = row.key.prefix.empty() ? fmt::format("a {}:", row.name) : fmt::format("{} and one of", row.key.prefix);
    return fmt::format("{} {}", before, fmt::join(texts, ", "));
}

/// Is a part after the leading ones about this axis? A number's prefix is followed by a digit at once, so that it takes no
/// word that begins like it.
bool begins(const AxisRow& row, std::string_view part) {
    const std::string_view prefix = row.key.prefix;
    if (prefix.empty()) {
        return axis_parse(row.axis, part).has_value();
    }
    return part.starts_with(prefix) && (!row.domain.names.empty() || part.find_first_of("0123456789") == prefix.size());
}

class KeyParser {
public:
    explicit KeyParser(std::string_view key) : key_(key) {}

    Configuration parse() {
        const auto leading = std::count_if(axis_table.begin(), axis_table.end(), is_leading);
        std::size_t begin = 0;
        for (int index = 0;; ++index) {
            const std::size_t end = key_.find('.', begin);
            const std::string_view part = key_.substr(begin, end == std::string_view::npos ? end : end - begin);
            read(index < leading ? axis_table.at(static_cast<std::size_t>(index)) : further(part), part);
            if (end == std::string_view::npos) {
                if (index + 1 < leading) {
                    fail(fmt::format("has {} of the {} parts that every key has", index + 1, leading));
                }
                return result_;
            }
            begin = end + 1;
        }
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw InputError(fmt::format("configuration key '{}' {} (a key reads like {})", for_terminal(key_), what, Configuration{}.key()));
    }
    [[noreturn]] void fail(std::string_view part, std::string_view wanted) const {
        throw InputError(fmt::format("configuration key '{}': '{}' is not {} (a key reads like {})", for_terminal(key_), for_terminal(part),
                                     wanted, Configuration{}.key()));
    }

    const AxisRow& further(std::string_view part) const {
        std::string known;
        for (const AxisRow& row : axis_table) {
            if (row.key.place == Place::further) {
                if (begins(row, part)) {
                    return row;
                }
                known += fmt::format("{}{}", known.empty() ? "" : ", ", key_form(row));
            }
        }
        fail(part, fmt::format("a known part: {}", known));
    }

    void read(const AxisRow& first, std::string_view part) {
        const std::span<const AxisRow> rows = axes_of_part(first);
        std::string_view rest = part;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool last = i + 1 == rows.size();
            const std::size_t end = last ? rest.size() : rest.find(rows[i + 1].key.prefix, rows[i].key.prefix.size());
            if (end == std::string_view::npos) {
                fail(part, key_form(first));
            }
            std::string_view& said = said_.at(static_cast<std::size_t>(rows[i].axis));
            if (!said.empty()) {
                fail(fmt::format("names {} twice: '{}' and '{}'", rows[i].name, for_terminal(said), for_terminal(part)));
            }
            said = part;
            const std::optional<int> value = value_of(rows[i], rest.substr(0, end));
            if (!value) {
                fail(rest.substr(0, end), wanted(rows[i]));
            }
            set_axis(result_, rows[i].axis, *value);
            rest.remove_prefix(end);
        }
    }

    std::string_view key_;
    Configuration result_;
    std::array<std::string_view, axis_count> said_{};  // the part that names each axis
};

}  // namespace

std::string Configuration::key() const {
    std::string out;
    for (const AxisRow& first : axis_table) {
        const std::span<const AxisRow> rows = axes_of_part(first);
        const auto differs = [this](const AxisRow& row) { return axis_value(*this, row.axis) != row.standard; };
        if (first.key.place == Place::joined || !(is_leading(first) || std::any_of(rows.begin(), rows.end(), differs))) {
            continue;
        }
        out += out.empty() ? "" : ".";
        for (const AxisRow& row : rows) {
            out += value_text(row, axis_value(*this, row.axis));
        }
    }
    return out;
}

Configuration Configuration::parse(std::string_view key) {
    return KeyParser(key).parse();
}

}  // namespace normtune
