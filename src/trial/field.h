// How members of plain structs are described once for all of their files: `describe(visitor, object)` is a struct's table, a
// call of the visitor for each member. The writers and readers of JSON and CSV and the maker of the schema are visitors:
//   v(name, member, text, traits)                 text: what it is, without the full stop
//   v(name, names, member, text, traits)          an enumeration
//   v.otherwise(member, value)                    what it is where the column before is not in a CSV
//   v.repeated(name, text, made, added)           a JSON member that says what others say; checked on reading
//   v.column(name, place, made)                   a column of results.csv that is made of others
//   v.flaw(why)                                   what is wrong with the members together; empty where nothing is
// and `axis`, `candidate`, `version` for what no other struct has.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace normtune {

/// The column of results.csv that is the row's and not the record's: rows that follow it, 0 in the last one.
inline constexpr std::string_view rows_left_column = "rows_left";

/// The order of results.csv. Columns of one place stand in the order of their rows; the first 28 have a place each. A new
/// column takes a place after the last one. Behind them all stands rows_left.
namespace place {
inline constexpr int none = -1, config = 12, leading_axes = 13, ranking = 28, tokens = 29, problem = 30, axes = 31, measuring = 32,
                     code = 33, verification = 34, device_id = 35, run = 36, repeat = 37, provider = 38, timing = 39;
}  // namespace place

/// What JSON's null stands for in place of a number.
enum class NullNumber { refused, not_a_number, infinite };
enum class TextForm { name, prose, timestamp };  // prose: control characters are replaced where it is shown

struct FieldTraits {
    std::string_view unit = {};  // of a number, in words
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    NullNumber null = NullNumber::refused;
    TextForm form = TextForm::name;
    bool added = false;       // files of older versions lack it: it has its default
    bool omit_empty = false;  // not written where it is empty or false; no cell where it is 0
    // Of its column.
    int place = place::none;
    std::string_view column = {};  // its name, where it is not the member's
    int decimals = -1;             // as many as it takes
    double per = 1;                // the cell is the value over this
    bool needed = false;           // no results.csv without it
    bool compared = false;         // a comparison, which reads millions of rows, needs it

    bool allow(double value) const { return value >= least && value <= most; }
    constexpr FieldTraits at(int where) const {
        FieldTraits out = *this;
        out.place = where;
        return out;
    }
    constexpr FieldTraits compared_at(int where) const {
        FieldTraits out = at(where);
        out.compared = true;
        return out;
    }
};

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;
template <typename T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;
/// A struct with a table.
template <typename T>
concept Described = std::is_class_v<T> && !is_optional<T> && !is_list<T> && !std::same_as<T, std::string>;

template <Whole T>
T least_of(const FieldTraits& traits) {
    return static_cast<T>(std::max(traits.least, static_cast<double>(std::numeric_limits<T>::min())));
}
template <Whole T>
T most_of(const FieldTraits& traits) {
    constexpr T all = std::numeric_limits<T>::max();
    return traits.most < static_cast<double>(all) ? static_cast<T>(traits.most) : all;
}

/// "2026-11-20T23:59:59Z", or nothing.
bool is_timestamp(std::string_view text);
inline constexpr std::string_view timestamp_wanted = "a time in UTC such as 2026-11-20T23:59:59Z";

}  // namespace normtune
