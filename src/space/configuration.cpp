#include "space/configuration.h"

#include <bit>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune {
namespace {

constexpr std::array<AxisDomain, axis_count> domains{{
    {{}, 1, 32, true},                        // num_warps
    {{}, 4, 2048, true},                      // threads_per_row
    {{}, 1, 1 << 20, false},                  // rows_per_program
    {{}, 0, 1 << 20, true},                   // block_size; 0 is whole_row
    {residency_names.names, 0, 2, false},     // residency
    {reduction_names.names, 0, 3, false},     // reduction
    {grid_names.names, 0, 3, false},          // grid
    {rows_binding_names.names, 0, 1, false},  // rows_binding
    {{}, 1, 64, false},                       // programs_per_sm
    {gamma_names.names, 0, 2, false},         // gamma
    {{}, 2, 16, true},                        // vector_bytes
    {cache_hint_names.names, 0, 2, false},    // load_hint
    {cache_hint_names.names, 0, 2, false},    // store_hint
    {{}, 1, 3, false},                        // stages
    {offset_bits_names.names, 0, 2, false},   // offset_bits
    {dgamma_names.names, 0, 3, false},        // dgamma
    {{}, 1, 4096, true},                      // reduce_rows
    {{}, 1, 4096, true},                      // reduce_cols
    {{}, 1, 32, true},                        // reduce_warps
    {{}, 0, 16, false},                       // waves_per_eu
    {{}, 1, 16, true},                        // tile_rows
    {{}, 0, 1023, false},                     // unit_margin
    {{}, 0, 8, false},                        // deferred_steps
}};

std::optional<int> whole_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

// Short hint names of a key: "ld_streaming", "st_cg".
constexpr NameTable<CacheHint, 3> hint_key_names{{"default", "streaming", "cg"}};

/// One part of a key: its text, and what it sets. Fixed parts come first, in this order; the others only where they
/// differ.
class KeyParser {
public:
    explicit KeyParser(std::string_view key) : key_(key) {}

    Configuration parse() {
        std::size_t begin = 0;
        for (int index = 0;; ++index) {
            const std::size_t end = key_.find('.', begin);
            const std::string_view part = key_.substr(begin, end == std::string_view::npos ? end : end - begin);
            if (index < fixed_parts) {
                fixed(index, part);
            } else {
                further(part);
            }
            if (end == std::string_view::npos) {
                if (index + 1 < fixed_parts) {
                    fail(part, fmt::format("the whole key: it has {} parts where at least {} are needed", index + 1, fixed_parts));
                }
                return result_;
            }
            begin = end + 1;
        }
    }

private:
    static constexpr int fixed_parts = 7;

    [[noreturn]] void fail(std::string_view part, std::string_view wanted) const {
        throw InputError(fmt::format("configuration key '{}': '{}' is not {} (a key reads like w4.t128.r1.row.registers.masked.per_row)",
                                     key_, part, wanted));
    }

    void number(Axis axis, std::string_view part, std::string_view prefix) {
        const AxisDomain& range = domain(axis);
        const std::optional<int> value = part.starts_with(prefix) ? axis_parse(axis, part.substr(prefix.size())) : std::nullopt;
        if (!value) {
            fail(part, fmt::format("{}<{}>, {} from {} to {}", prefix, axis_names.name(axis),
                                   range.power_of_two ? "a power of two" : "a whole number",
                                   std::max(range.least, axis == Axis::block_size ? 1 : 0), range.most));
        }
        set_axis(result_, axis, *value);
    }

    void name(Axis axis, std::string_view part) {
        const std::optional<int> value = axis_parse(axis, part);
        if (!value) {
            const auto names = domain(axis).names;
            fail(part, fmt::format("a {}: {}", axis_names.name(axis), fmt::join(names, ", ")));
        }
        set_axis(result_, axis, *value);
    }

    void fixed(int index, std::string_view part) {
        switch (index) {
            case 0:
                return number(Axis::num_warps, part, "w");
            case 1:
                return number(Axis::threads_per_row, part, "t");
            case 2:
                return number(Axis::rows_per_program, part, "r");
            case 3:
                return part == "row" ? set_axis(result_, Axis::block_size, whole_row) : number(Axis::block_size, part, "b");
            case 4:
                return name(Axis::residency, part);
            case 5:
                return name(Axis::reduction, part);
            default:
                return name(Axis::grid, part);
        }
    }

    void hint(Axis axis, std::string_view part) {
        const std::optional<CacheHint> value = hint_key_names.find(part.substr(3));
        if (!value) {
            fail(part, fmt::format("{} and one of {}", part.substr(0, 3), hint_key_names.list()));
        }
        set_axis(result_, axis, static_cast<int>(*value));
    }

    void tile(std::string_view part) {
        const std::string_view text = part.substr(4);
        const std::size_t first = text.find('x');
        const std::size_t second = first == std::string_view::npos ? first : text.find('x', first + 1);
        if (second == std::string_view::npos) {
            fail(part, "tile<reduce_rows>x<reduce_cols>x<reduce_warps>");
        }
        number(Axis::reduce_rows, text.substr(0, first), "");
        number(Axis::reduce_cols, text.substr(first + 1, second - first - 1), "");
        number(Axis::reduce_warps, text.substr(second + 1), "");
    }

    /// "p4", and no word that begins with a p.
    static bool numbered(std::string_view part, std::string_view prefix) {
        return part.starts_with(prefix) && part.find_first_of("0123456789") == prefix.size();
    }

    void further(std::string_view part) {
        if (rows_binding_names.find(part)) {
            name(Axis::rows_binding, part);
        } else if (dgamma_names.find(part)) {
            name(Axis::dgamma, part);
        } else if (part.starts_with("gamma_")) {
            name(Axis::gamma, part.substr(6));
        } else if (part.starts_with("ld_")) {
            hint(Axis::load_hint, part);
        } else if (part.starts_with("st_")) {
            hint(Axis::store_hint, part);
        } else if (part.starts_with("tile")) {
            tile(part);
        } else if (numbered(part, "wpe")) {
            number(Axis::waves_per_eu, part, "wpe");
        } else if (numbered(part, "um")) {
            number(Axis::unit_margin, part, "um");
        } else if (numbered(part, "d")) {
            number(Axis::deferred_steps, part, "d");
        } else if (numbered(part, "h")) {
            number(Axis::tile_rows, part, "h");
        } else if (numbered(part, "p")) {
            number(Axis::programs_per_sm, part, "p");
        } else if (numbered(part, "v")) {
            number(Axis::vector_bytes, part, "v");
        } else if (numbered(part, "s")) {
            number(Axis::stages, part, "s");
        } else if (part.starts_with("o")) {
            name(Axis::offset_bits, part.substr(1));
        } else {
            fail(part,
                 "a known part: runtime, p<N>, gamma_<place>, v<bytes>, ld_<hint>, st_<hint>, s<stages>, o<bits>, "
                 "atomic, split, cooperative, published, tile<R>x<C>x<W>, wpe<N>, h<rows>, um<N>, d<steps>");
        }
    }

    std::string_view key_;
    Configuration result_;
};

}  // namespace

const AxisDomain& domain(Axis axis) {
    return domains.at(static_cast<std::size_t>(axis));
}

int axis_value(const Configuration& c, Axis axis) {
    switch (axis) {
        case Axis::num_warps:
            return c.num_warps;
        case Axis::threads_per_row:
            return c.threads_per_row;
        case Axis::rows_per_program:
            return c.rows_per_program;
        case Axis::block_size:
            return c.block_size;
        case Axis::residency:
            return static_cast<int>(c.residency);
        case Axis::reduction:
            return static_cast<int>(c.reduction);
        case Axis::grid:
            return static_cast<int>(c.grid);
        case Axis::rows_binding:
            return static_cast<int>(c.rows_binding);
        case Axis::programs_per_sm:
            return c.programs_per_sm;
        case Axis::gamma:
            return static_cast<int>(c.gamma);
        case Axis::vector_bytes:
            return c.vector_bytes;
        case Axis::load_hint:
            return static_cast<int>(c.load_hint);
        case Axis::store_hint:
            return static_cast<int>(c.store_hint);
        case Axis::stages:
            return c.stages;
        case Axis::offset_bits:
            return static_cast<int>(c.offset_bits);
        case Axis::dgamma:
            return static_cast<int>(c.dgamma);
        case Axis::reduce_rows:
            return c.reduce_rows;
        case Axis::reduce_cols:
            return c.reduce_cols;
        case Axis::reduce_warps:
            return c.reduce_warps;
        case Axis::waves_per_eu:
            return c.waves_per_eu;
        case Axis::tile_rows:
            return c.tile_rows;
        case Axis::unit_margin:
            return c.unit_margin;
        case Axis::deferred_steps:
            return c.deferred_steps;
    }
    return 0;
}

void set_axis(Configuration& c, Axis axis, int value) {
    switch (axis) {
        case Axis::num_warps:
            c.num_warps = value;
            break;
        case Axis::threads_per_row:
            c.threads_per_row = value;
            break;
        case Axis::rows_per_program:
            c.rows_per_program = value;
            break;
        case Axis::block_size:
            c.block_size = value;
            break;
        case Axis::residency:
            c.residency = static_cast<Residency>(value);
            break;
        case Axis::reduction:
            c.reduction = static_cast<Reduction>(value);
            break;
        case Axis::grid:
            c.grid = static_cast<Grid>(value);
            break;
        case Axis::rows_binding:
            c.rows_binding = static_cast<RowsBinding>(value);
            break;
        case Axis::programs_per_sm:
            c.programs_per_sm = value;
            break;
        case Axis::gamma:
            c.gamma = static_cast<GammaPlacement>(value);
            break;
        case Axis::vector_bytes:
            c.vector_bytes = value;
            break;
        case Axis::load_hint:
            c.load_hint = static_cast<CacheHint>(value);
            break;
        case Axis::store_hint:
            c.store_hint = static_cast<CacheHint>(value);
            break;
        case Axis::stages:
            c.stages = value;
            break;
        case Axis::offset_bits:
            c.offset_bits = static_cast<OffsetBits>(value);
            break;
        case Axis::dgamma:
            c.dgamma = static_cast<DgammaMethod>(value);
            break;
        case Axis::reduce_rows:
            c.reduce_rows = value;
            break;
        case Axis::reduce_cols:
            c.reduce_cols = value;
            break;
        case Axis::reduce_warps:
            c.reduce_warps = value;
            break;
        case Axis::waves_per_eu:
            c.waves_per_eu = value;
            break;
        case Axis::tile_rows:
            c.tile_rows = value;
            break;
        case Axis::unit_margin:
            c.unit_margin = value;
            break;
        case Axis::deferred_steps:
            c.deferred_steps = value;
            break;
    }
}

std::string axis_text(Axis axis, int value) {
    if (axis == Axis::block_size && value == whole_row) {
        return "row";
    }
    const auto names = domain(axis).names;
    return names.empty() ? fmt::format_int(value).str() : std::string(names[static_cast<std::size_t>(value)]);
}

std::optional<int> axis_parse(Axis axis, std::string_view text) {
    const AxisDomain& d = domain(axis);
    for (std::size_t i = 0; i < d.names.size(); ++i) {
        if (d.names[i] == text) {
            return static_cast<int>(i);
        }
    }
    if (!d.names.empty()) {
        return std::nullopt;
    }
    if (axis == Axis::block_size && text == "row") {
        return whole_row;
    }
    const std::optional<int> value = whole_number(text);
    const int least = axis == Axis::block_size ? 1 : d.least;  // whole_row is spelt "row"
    if (!value || *value < least || *value > d.most || (d.power_of_two && !std::has_single_bit(static_cast<unsigned>(*value)))) {
        return std::nullopt;
    }
    return value;
}

std::string Configuration::key() const {
    static const Configuration plain;
    std::string out = fmt::format("w{}.t{}.r{}.", num_warps, threads_per_row, rows_per_program);
    out += block_size == whole_row ? std::string("row") : fmt::format("b{}", block_size);
    out += fmt::format(".{}.{}.{}", residency_names.name(residency), reduction_names.name(reduction), grid_names.name(grid));
    if (rows_binding != plain.rows_binding) {
        out += fmt::format(".{}", rows_binding_names.name(rows_binding));
    }
    if (programs_per_sm != plain.programs_per_sm) {
        out += fmt::format(".p{}", programs_per_sm);
    }
    if (gamma != plain.gamma) {
        out += fmt::format(".gamma_{}", gamma_names.name(gamma));
    }
    if (vector_bytes != plain.vector_bytes) {
        out += fmt::format(".v{}", vector_bytes);
    }
    if (load_hint != plain.load_hint) {
        out += fmt::format(".ld_{}", hint_key_names.name(load_hint));
    }
    if (store_hint != plain.store_hint) {
        out += fmt::format(".st_{}", hint_key_names.name(store_hint));
    }
    if (stages != plain.stages) {
        out += fmt::format(".s{}", stages);
    }
    if (offset_bits != plain.offset_bits) {
        out += fmt::format(".o{}", offset_bits_names.name(offset_bits));
    }
    if (dgamma != plain.dgamma) {
        out += fmt::format(".{}", dgamma_names.name(dgamma));
    }
    if (reduce_rows != plain.reduce_rows || reduce_cols != plain.reduce_cols || reduce_warps != plain.reduce_warps) {
        out += fmt::format(".tile{}x{}x{}", reduce_rows, reduce_cols, reduce_warps);
    }
    if (waves_per_eu != plain.waves_per_eu) {
        out += fmt::format(".wpe{}", waves_per_eu);
    }
    if (tile_rows != plain.tile_rows) {
        out += fmt::format(".h{}", tile_rows);
    }
    if (unit_margin != plain.unit_margin) {
        out += fmt::format(".um{}", unit_margin);
    }
    if (deferred_steps != plain.deferred_steps) {
        out += fmt::format(".d{}", deferred_steps);
    }
    return out;
}

Configuration Configuration::parse(std::string_view key) {
    return KeyParser(key).parse();
}

}  // namespace normtune
