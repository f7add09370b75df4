// Text names of enumerations: one table an enumeration, used by files, the command line, keys and records alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace normtune {

template <typename E, std::size_t N>
struct NameTable {
    std::array<std::string_view, N> names;  // indexed by the enumerator's value, which starts at 0 and has no gaps

    constexpr std::string_view name(E value) const { return names.at(static_cast<std::size_t>(value)); }

    constexpr std::optional<E> find(std::string_view text) const {
        for (std::size_t i = 0; i < N; ++i) {
            if (names[i] == text) {
                return static_cast<E>(i);
            }
        }
        return std::nullopt;
    }

    /// "a, b, c": for messages that say what would be right.
    std::string list() const {
        std::string out;
        for (std::string_view n : names) {
            out += out.empty() ? "" : ", ";
            out += n;
        }
        return out;
    }
};

/// The names in a list of enumerators, "a, b_, _32": an underscore at either end, which makes an identifier of a keyword or
/// a number, is not part of a name.
template <typename E, std::size_t N>
constexpr NameTable<E, N> names_of_enumerators(std::string_view list) {
    constexpr std::string_view around = " _";
    NameTable<E, N> table{};
    for (std::string_view& name : table.names) {
        const std::size_t end = list.find(',');
        name = list.substr(0, end);
        name = name.substr(name.find_first_not_of(around));
        name = name.substr(0, name.find_last_not_of(around) + 1);
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
    return table;
}

/// An enumeration and its table of names, from one list: their orders cannot differ.
#define NORMTUNE_ENUMERATION(Type, table, ...) \
    enum class Type { __VA_ARGS__ };           \
    inline constexpr auto table =              \
        ::normtune::names_of_enumerators<Type, 1 + std::ranges::count(std::string_view(#__VA_ARGS__), ',')>(#__VA_ARGS__)

/// The names of a table that has a row for each enumerator, in their order.
template <typename E, typename Row, std::size_t N>
constexpr NameTable<E, N> names_of(const std::array<Row, N>& rows) {
    NameTable<E, N> table{};
    for (std::size_t i = 0; i < N; ++i) {
        table.names[i] = rows[i].name;
    }
    return table;
}

/// The candidate nearest to `word` by edit distance, or empty if none is near enough to be meant.
std::string nearest(std::string_view word, const std::string_view* first, const std::string_view* last);

/// "; did you mean 'x'?" where a candidate is near, else "; known: a, b, c". For the end of an error message.
std::string suggestion(std::string_view word, const std::string_view* first, const std::string_view* last);

}  // namespace normtune
