// Named heuristics of other launchers, to be compared with the measured best. Sources: docs/heuristics.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "problem/problem.h"
#include "space/axes.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune {

/// TransformerEngine #615: rows per program for M × N on `compute_units` (forward, or backward).
std::int64_t te_rows_per_program(std::int64_t rows, std::int64_t cols, int compute_units, bool backward);
/// TransformerEngine #615: programs of the grid that goes with it.
std::int64_t te_programs(std::int64_t rows, std::int64_t cols, int compute_units, bool backward, int sm_margin = 0);
/// TransformerEngine #615: 64-bit offsets once max(stride)·M + N reaches 2^31. Here also from 2^30 rows on: a program counts
/// further than M, by the rows that it would fetch ahead.
bool needs_64_bit_offsets(std::int64_t rows, std::int64_t cols, std::int64_t row_stride);

struct LigerSettings {
    std::int64_t block_size;
    int num_warps;
};
/// Liger's calculate_settings: next power of two; 4 warps, 8 from 2048, 16 from 8192, 32 from 32768.
LigerSettings liger_settings(std::int64_t cols);
/// Liger's Ascend rule: BLOCK_M = 2048 / BLOCK_N rows for N ≤ 2048, else 1.
std::int64_t liger_ascend_block_m(std::int64_t cols);
/// quack: threads per row at N ≤ 64/128/3072/6144/16384/more (backward: 64/128/256/512/4096/more).
int quack_threads_per_row(std::int64_t cols, bool backward);

/// A heuristic as a predicate on configurations: what it fixes, and which configurations obey it.
struct Heuristic {
    std::string_view name;  // "te_rows_per_program", "liger_calculate_settings", "liger_ascend", "quack_threads_per_row"
    bool (*chooses)(const Configuration&, const Problem&, const DeviceInfo&);
    std::span<const Axis> decides;  // the axes that the launcher's rule fixes
};
std::span<const Heuristic> heuristics();

}  // namespace normtune
