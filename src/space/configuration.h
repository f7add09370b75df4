// One point of the search space: a value for every axis, and its text key.
#pragma once

#include <string>
#include <string_view>

#include "support/names.h"

namespace normtune {

NORMTUNE_ENUMERATION(RowsBinding, rows_binding_names, constexpr_, runtime);
NORMTUNE_ENUMERATION(Residency, residency_names, registers, shared, reload);
NORMTUNE_ENUMERATION(Reduction, reduction_names, where, masked, guard, even);
NORMTUNE_ENUMERATION(Grid, grid_names, per_row, packed, persistent_strided, persistent_contiguous, persistent_balanced);
NORMTUNE_ENUMERATION(GammaPlacement, gamma_names, hoisted, before, after);
NORMTUNE_ENUMERATION(CacheHint, cache_hint_names, default_, streaming, cache_global, evict_last);
NORMTUNE_ENUMERATION(OffsetBits, offset_bits_names, auto_, _32, _64);
// cooperative: partials, reduced in the same launch; published: partials, reduced by a launch that takes each of them as
// soon as it is written; beside: split, by programs of the same launch.
NORMTUNE_ENUMERATION(DgammaMethod, dgamma_names, partials, atomic, split, cooperative, published, beside);
NORMTUNE_ENUMERATION(DependentLaunch, dependent_launch_names, off, on);
// tma_loads: rows come by bulk copies; tma: results leave by them, too.
NORMTUNE_ENUMERATION(Staging, staging_names, async, tma_loads, tma);
NORMTUNE_ENUMERATION(IncomingDs, incoming_ds_names, staged, direct);

/// block_size of a configuration whose one pass covers the whole row.
inline constexpr int whole_row = 0;

/// What the coordinates mean, on every backend (warp_size is the device's; a CPU's warp is one vector of fp32 lanes):
///   A program has num_warps · warp_size threads, in groups of threads_per_row. Each group has a row of its own, so
///   threads / threads_per_row rows lie side by side; rows_per_program rows are taken in passes of that many.
///   per_row gives every row a program; packed has ceil(M / rows_per_program) programs; a persistent grid has at most
///   programs_per_sm · compute_units, which go on with further groups of rows_per_program rows: every programs-th group
///   (strided; balanced: the same with as few programs as take no more groups each) or a run of neighbours (contiguous).
///   registers and shared hold the row between its reduction and its output; reload reads it twice, in blocks of
///   block_size columns or all at once (whole_row). A row's threads take threads_per_row vectors of columns at once;
///   a vector is vector_bytes, or less where rows do not start at its multiples.
/// Combinations that mean nothing, and those that are another one by a second name: space/common_limits.h.
struct Configuration {
    // One member an axis.
#define AXIS(name, type, standard, ...) type name = standard;
#include "space/axes.inc"

    friend bool operator==(const Configuration&, const Configuration&) = default;

    /// Stable, readable, parses back: "w4.t128.r1.row.registers.masked.per_row", then each further axis that differs
    /// from its default: ".runtime.p2.ld_streaming". The parts are in docs/spaces.md. New axes come with a default, so old
    /// keys stay valid.
    std::string key() const;
    /// Throws InputError: which part of the key is wrong and what would be right.
    static Configuration parse(std::string_view key);
};

}  // namespace normtune
