#include "space/axes.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

namespace normtune {
namespace {

constexpr AxisDomain numbers(int least, int most) {
    return {{}, least, most, false, {}};
}
constexpr AxisDomain powers_of_two(int least, int most, std::string_view zero = {}) {
    return {{}, least, most, true, zero};
}
template <typename E, std::size_t N>
constexpr AxisDomain named(const NameTable<E, N>& table) {
    return {table.names, 0, static_cast<int>(N) - 1, false, {}};
}

constexpr AxisKey always(std::string_view prefix) {
    return {AxisKey::Place::always, prefix, {}, -1, {}};
}
constexpr AxisKey further(std::string_view prefix, std::string_view placeholder = {}) {
    return {AxisKey::Place::further, prefix, placeholder, -1, {}};
}
template <typename E>
constexpr AxisKey further(std::string_view prefix, std::string_view placeholder, E value, std::string_view short_name) {
    return {AxisKey::Place::further, prefix, placeholder, static_cast<int>(value), short_name};
}
constexpr AxisKey joined(std::string_view prefix, std::string_view placeholder) {
    return {AxisKey::Place::joined, prefix, placeholder, -1, {}};
}

using Devices = AxisBits::Devices;
constexpr AxisBits no_bits{Devices::none};
constexpr AxisBits of_a_row(Devices on) {
    return {on};
}
template <typename E>
constexpr AxisBits of_a_row(Devices on, E only) {
    return {on, static_cast<int>(only)};
}
template <typename E>
constexpr AxisBits of_a_row_in_clusters(Devices on, E only) {
    return {on, static_cast<int>(only), true};
}
struct VaryingMethod {
    DgammaMethod value;
    std::string_view why;
};
constexpr AxisBits of_runs(VaryingMethod on_gpu, VaryingMethod on_cpu) {
    return {Devices::none, -1, false, {static_cast<int>(on_gpu.value), on_gpu.why}, {static_cast<int>(on_cpu.value), on_cpu.why}};
}

}  // namespace

constexpr std::array<AxisRow, axis_count> axis_table{{
#define AXIS(name_, type, standard_, ...) {.axis = Axis::name_, .name = #name_, .standard = static_cast<int>(standard_), __VA_ARGS__},
#include "space/axes.inc"
}};
static_assert(std::ranges::none_of(axis_table, [](const AxisRow& row) { return row.bits.rows == Devices::unstated; }),
              "an axis does not say what it does to the bits of results: .bits = no_bits, of_a_row(…) or of_runs(…)");

std::string AxisDomain::wanted() const {
    if (!names.empty()) {
        return fmt::format("one of {}", fmt::join(names, ", "));
    }
    return fmt::format("{} from {} to {}{}{}", power_of_two ? "a power of two" : "a whole number", least, most, zero.empty() ? "" : ", or ",
                       zero);
}

int axis_value(const Configuration& c, Axis axis) {
    switch (axis) {
#define AXIS(name, ...) \
    case Axis::name:    \
        return static_cast<int>(c.name);
#include "space/axes.inc"
    }
    return 0;
}

void set_axis(Configuration& c, Axis axis, int value) {
    switch (axis) {
#define AXIS(name, type, ...)              \
    case Axis::name:                       \
        c.name = static_cast<type>(value); \
        break;
#include "space/axes.inc"
    }
}

std::string axis_text(Axis axis, int value) {
    const AxisDomain& d = domain(axis);
    if (d.is_number(value)) {
        return fmt::format_int(value).str();
    }
    return std::string(d.names.empty() ? d.zero : d.names[static_cast<std::size_t>(value)]);
}

std::optional<int> axis_parse(Axis axis, std::string_view text) {
    const AxisDomain& d = domain(axis);
    for (std::size_t i = 0; i < d.names.size(); ++i) {
        if (d.names[i] == text) {
            return static_cast<int>(i);
        }
    }
    if (!d.names.empty() || text.empty()) {
        return std::nullopt;
    }
    if (text == d.zero) {
        return 0;
    }
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < d.least || value > d.most ||
        (d.power_of_two && !std::has_single_bit(static_cast<unsigned>(value)))) {
        return std::nullopt;
    }
    return value;
}

std::span<const AxisRow> axes_of_part(const AxisRow& first) {
    const AxisRow* const end = axis_table.data() + axis_table.size();
    const AxisRow* next = &first + 1;
    while (next != end && next->key.place == AxisKey::Place::joined) {
        ++next;
    }
    return {&first, next};
}

std::string key_form(const AxisRow& first) {
    std::string out;
    if (!first.key.prefix.empty()) {
        for (const AxisRow& row : axes_of_part(first)) {
            out += fmt::format("{}<{}>", row.key.prefix, row.key.placeholder.empty() ? row.name : row.key.placeholder);
        }
        return first.domain.zero.empty() ? out : fmt::format("{}, {}", out, first.domain.zero);
    }
    for (int value = 0; value < static_cast<int>(first.domain.names.size()); ++value) {
        if (first.key.place == AxisKey::Place::always || value != first.standard) {
            out += fmt::format("{}{}", out.empty() ? "" : ", ", axis_text(first.axis, value));
        }
    }
    return out;
}

}  // namespace normtune
