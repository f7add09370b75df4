// One point of the search space: a value for every axis, and its text key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/names.h"

namespace normtune {

enum class RowsBinding { constexpr_, runtime };
enum class Residency { registers, shared, reload };
enum class Reduction { where, masked, guard, even };
enum class Grid { per_row, packed, persistent_strided, persistent_contiguous };
enum class GammaPlacement { hoisted, before, after };
enum class CacheHint { default_, streaming, cache_global };
enum class OffsetBits { auto_, bits32, bits64 };
enum class DgammaMethod { partials, atomic, split, cooperative, published };

inline constexpr NameTable<RowsBinding, 2> rows_binding_names{{"constexpr", "runtime"}};
inline constexpr NameTable<Residency, 3> residency_names{{"registers", "shared", "reload"}};
inline constexpr NameTable<Reduction, 4> reduction_names{{"where", "masked", "guard", "even"}};
inline constexpr NameTable<Grid, 4> grid_names{{"per_row", "packed", "persistent_strided", "persistent_contiguous"}};
inline constexpr NameTable<GammaPlacement, 3> gamma_names{{"hoisted", "before", "after"}};
inline constexpr NameTable<CacheHint, 3> cache_hint_names{{"default", "streaming", "cache_global"}};
inline constexpr NameTable<OffsetBits, 3> offset_bits_names{{"auto", "32", "64"}};
inline constexpr NameTable<DgammaMethod, 5> dgamma_names{{"partials", "atomic", "split", "cooperative", "published"}};

/// block_size of a configuration whose one pass covers the whole row.
inline constexpr int whole_row = 0;

/// What the coordinates mean, on every backend (warp_size is the device's; a CPU's warp is one vector of fp32 lanes):
///   A program has num_warps · warp_size threads, in groups of threads_per_row. Each group has a row of its own, so
///   threads / threads_per_row rows lie side by side; rows_per_program rows are taken in passes of that many.
///   per_row gives every row a program; packed has ceil(M / rows_per_program) programs; a persistent grid has at most
///   programs_per_sm · compute_units, which go on with further groups of rows_per_program rows: every programs-th group
///   (strided) or a run of neighbours (contiguous).
///   registers and shared hold the row between its reduction and its output; reload reads it twice, in blocks of
///   block_size columns or all at once (whole_row). A row's threads take threads_per_row vectors of columns at once;
///   a vector is vector_bytes, or less where rows do not start at its multiples.
/// Combinations that mean nothing, and those that are another one by a second name: problem/common_limits.h.
struct Configuration {
    int num_warps = 4;
    int threads_per_row = 128;
    int rows_per_program = 1;
    int block_size = whole_row;
    Residency residency = Residency::registers;  // where the row is kept while it is used twice
    Reduction reduction = Reduction::masked;     // how columns beyond the row's end stay out of the sum
    Grid grid = Grid::per_row;
    RowsBinding rows_binding = RowsBinding::constexpr_;  // are the rows a program takes a constant of the compiled code
    int programs_per_sm = 1;                             // persistent grids only
    GammaPlacement gamma = GammaPlacement::after;        // loaded once a program, or before or after each row's reduction
    int vector_bytes = 16;                               // of one thread's memory access
    CacheHint load_hint = CacheHint::default_;
    CacheHint store_hint = CacheHint::default_;
    int stages = 1;  // 1: no prefetch; 2, 3: a program's next one or two rows are fetched ahead
    OffsetBits offset_bits = OffsetBits::auto_;
    // Backward and full. cooperative: partials, reduced in the same launch; published: partials, reduced by a launch
    // that takes each of them as soon as it is written.
    DgammaMethod dgamma = DgammaMethod::partials;
    int reduce_rows = 64;  // tile of the dgamma reduce kernel: rows, columns, warps
    int reduce_cols = 64;
    int reduce_warps = 4;
    int waves_per_eu = 0;  // AMD's occupancy hint; 0: the compiler's choice
    int tile_rows = 1;     // rows that a row's threads hold and sum together: above 1 a program takes 2-D tiles
    int unit_margin = 0;   // compute units that a persistent grid leaves to other work (TransformerEngine's sm_margin)
    // Backward and full, where partial sums are published: so many steps before a program's last keep their dx in
    // shared memory until then.
    int deferred_steps = 0;

    friend bool operator==(const Configuration&, const Configuration&) = default;

    /// Stable, readable, parses back: "w4.t128.r1.row.registers.masked.per_row", then each further axis that differs
    /// from its default, in the order of Axis: ".runtime", ".p2", ".gamma_hoisted", ".v8", ".ld_streaming",
    /// ".st_streaming", ".s2", ".o64", ".atomic", ".tile128x64x8", ".wpe2", ".h4",
    /// ".um8", ".d2". New axes come with a default, so old
    /// keys stay valid.
    std::string key() const;
    /// Throws InputError: which part of the key is wrong and what would be right.
    static Configuration parse(std::string_view key);
};

enum class Axis {
    num_warps,
    threads_per_row,
    rows_per_program,
    block_size,
    residency,
    reduction,
    grid,
    rows_binding,
    programs_per_sm,
    gamma,
    vector_bytes,
    load_hint,
    store_hint,
    stages,
    offset_bits,
    dgamma,
    reduce_rows,
    reduce_cols,
    reduce_warps,
    waves_per_eu,
    tile_rows,
    unit_margin,
    deferred_steps
};
inline constexpr int axis_count = 23;
inline constexpr NameTable<Axis, axis_count> axis_names{
    {"num_warps",       "threads_per_row", "rows_per_program", "block_size",   "residency",  "reduction",   "grid",          "rows_binding",
     "programs_per_sm", "gamma",           "vector_bytes",     "load_hint",    "store_hint", "stages",      "offset_bits",   "dgamma",
     "reduce_rows",     "reduce_cols",     "reduce_warps",     "waves_per_eu", "tile_rows",  "unit_margin", "deferred_steps"}};

/// What an axis may hold: named values, or whole numbers from `least` to `most`.
struct AxisDomain {
    std::span<const std::string_view> names;  // empty: a number
    int least = 0;
    int most = 0;
    bool power_of_two = false;  // block_size besides whole_row, vector_bytes
};
const AxisDomain& domain(Axis axis);

/// An axis's value as a number (enumerators by their index) and back; the only generic access to a Configuration.
int axis_value(const Configuration& configuration, Axis axis);
void set_axis(Configuration& configuration, Axis axis, int value);
/// "128", "row", "masked", …; and back (nullopt: not in the axis's domain).
std::string axis_text(Axis axis, int value);
std::optional<int> axis_parse(Axis axis, std::string_view text);

}  // namespace normtune
