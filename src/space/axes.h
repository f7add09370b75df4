// The table of axes: one row an axis, made of axes.inc. Keys, files, rules, macros, inert axes and the docs' table come
// from it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "space/configuration.h"
#include "space/device_info.h"
#include "support/names.h"

namespace normtune {

enum class Axis {
#define AXIS(name, ...) name,
#include "space/axes.inc"
};

inline constexpr int axis_count = 0
#define AXIS(...) +1
#include "space/axes.inc"
    ;

inline constexpr NameTable<Axis, axis_count> axis_names{{
#define AXIS(name, ...) #name,
#include "space/axes.inc"
}};

/// What an axis may hold: named values, or whole numbers from `least` to `most`, and 0 where `zero` has a word for it.
struct AxisDomain {
    std::span<const std::string_view> names;  // empty: a number
    int least = 0;
    int most = 0;
    bool power_of_two = false;
    std::string_view zero;  // "row"

    /// Is the value a number in files, not a word?
    bool is_number(int value) const { return names.empty() && (value != 0 || zero.empty()); }
    /// For messages: "one of a, b", "a power of two from 1 to 1048576, or row".
    std::string wanted() const;
};

/// An axis's part of a configuration's key.
struct AxisKey {
    enum class Place {
        always,   // one of the leading parts of every key
        further,  // a part of its own where it differs from the default
        joined    // goes on in the part of the axis before it; all of them where one differs
    };
    Place place = Place::further;
    std::string_view prefix;       // of the value; empty where the value's name says it all
    std::string_view placeholder;  // of the value in messages: "p<N>"
    int short_value = -1;          // is spelt `short_name` in keys
    std::string_view short_name;
};

struct InertOn {
    Backend backend = Backend::replay;
    std::string_view reason;  // empty: no entry
};

/// What an axis's values do to the bits of results (space/reproducibility.h). A row that does not say it does not compile.
struct AxisBits {
    enum class Devices { unstated, none, gpu, cpu, all };
    Devices rows = Devices::unstated;  // where its value is a part of the order in which a row is summed up
    int only = -1;                     // that value alone, the others being alike; -1: each value
    bool in_clusters = false;          // only where a row lies over several programs
    struct Varying {
        int value = -1;        // with it dgamma differs from run to run; -1: with none
        std::string_view why;  // one line
    };
    Varying on_gpu = {};
    Varying on_cpu = {};
};

struct AxisRow {
    Axis axis;
    std::string_view name;  // in files, rules, records; the column's name, too
    int standard = 0;       // the default
    AxisDomain domain = {};
    AxisKey key = {};
    bool leading_column = false;  // among the columns of results.csv whose place is fixed; else after the problem's
    std::string_view macro = {};  // of the GPU source that is the value itself; empty: macros.cpp says what comes of it
    InertOn inert_on[2] = {};     // backends on which it means nothing, and why
    AxisBits bits = {};
    std::string_view help = {};  // one line: docs/spaces.md, the schema
};
extern const std::array<AxisRow, axis_count> axis_table;

inline const AxisRow& axis_row(Axis axis) {
    return axis_table[static_cast<std::size_t>(axis)];
}
inline const AxisDomain& domain(Axis axis) {
    return axis_row(axis).domain;
}

/// An axis's value as a number (enumerators by their index) and back; the only generic access to a Configuration.
int axis_value(const Configuration& configuration, Axis axis);
void set_axis(Configuration& configuration, Axis axis, int value);
/// "128", "row", "masked", …; and back (nullopt: not in the axis's domain).
std::string axis_text(Axis axis, int value);
std::optional<int> axis_parse(Axis axis, std::string_view text);

/// The axes that one part of a key has: `first`, and those that go on in it.
std::span<const AxisRow> axes_of_part(const AxisRow& first);
/// For messages and docs: "p<N>", "tile<R>x<C>x<W>", or the names that stand by themselves, of a further part without the
/// default's: "atomic, split".
std::string key_form(const AxisRow& first);

}  // namespace normtune
