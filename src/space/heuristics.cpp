#include "space/heuristics.h"

#include <algorithm>
#include <array>
#include <bit>

namespace normtune {
namespace {

/// A step of a launcher's table: `value` holds up to and including `cols`.
struct Step {
    std::int64_t cols;
    int value;
};

template <std::size_t N>
int look_up(const std::array<Step, N>& steps, std::int64_t cols, int beyond) {
    const auto step = std::find_if(steps.begin(), steps.end(), [cols](const Step& s) { return cols <= s.cols; });
    return step == steps.end() ? beyond : step->value;
}

constexpr std::array<Step, 3> te_forward_caps{{{128, 16}, {256, 4}, {512, 2}}};
constexpr std::array<Step, 2> te_backward_caps{{{128, 4}, {512, 2}}};
constexpr std::array<Step, 5> quack_forward{{{64, 8}, {128, 16}, {3072, 32}, {6144, 64}, {16384, 128}}};
constexpr std::array<Step, 5> quack_backward{{{64, 8}, {128, 16}, {256, 32}, {512, 64}, {4096, 128}}};
constexpr std::int64_t te_programs_per_unit = 8;
constexpr std::int64_t te_flat_grid_cols = 2048;  // the forward's grid is persistent for wider rows
constexpr std::int64_t liger_ascend_tile = 2048;  // elements of the two-dimensional tile

std::int64_t next_power_of_two(std::int64_t n) {
    return n <= 1 ? 1 : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

/// A `full` trial runs one configuration both ways; the launchers' backward rules then decide, as the backward takes
/// longer.
bool by_backward_rule(const Problem& problem) {
    return problem.operation.has_backward();
}

bool te_chooses(const Configuration& configuration, const Problem& problem, const DeviceInfo& device) {
    return configuration.rows_per_program ==
           te_rows_per_program(problem.shape.rows, problem.shape.cols, device.compute_units, by_backward_rule(problem));
}

bool liger_chooses(const Configuration& configuration, const Problem& problem, const DeviceInfo& device) {
    const LigerSettings settings = liger_settings(problem.shape.cols);
    const bool reads_row_once = configuration.block_size == whole_row || configuration.block_size >= problem.shape.cols;
    return reads_row_once && configuration.num_warps == settings.num_warps && configuration.rows_per_program == 1 &&
           configuration.threads_per_row == configuration.num_warps * device.warp_size;
}

bool liger_ascend_chooses(const Configuration& configuration, const Problem& problem, const DeviceInfo&) {
    return configuration.rows_per_program == liger_ascend_block_m(problem.shape.cols);
}

bool quack_chooses(const Configuration& configuration, const Problem& problem, const DeviceInfo&) {
    return configuration.threads_per_row == quack_threads_per_row(problem.shape.cols, by_backward_rule(problem));
}

constexpr std::array decides_rows_per_program{Axis::rows_per_program};
constexpr std::array decides_threads_per_row{Axis::threads_per_row};
constexpr std::array decides_liger_launch{Axis::num_warps, Axis::threads_per_row, Axis::rows_per_program, Axis::block_size};

constexpr std::array<Heuristic, 4> all_heuristics{{{"te_rows_per_program", te_chooses, decides_rows_per_program},
                                                   {"liger_calculate_settings", liger_chooses, decides_liger_launch},
                                                   {"liger_ascend", liger_ascend_chooses, decides_rows_per_program},
                                                   {"quack_threads_per_row", quack_chooses, decides_threads_per_row}}};

}  // namespace

std::int64_t te_rows_per_program(std::int64_t rows, std::int64_t cols, int compute_units, bool backward) {
    const std::int64_t target = te_programs_per_unit * compute_units;
    const std::int64_t cap = backward ? look_up(te_backward_caps, cols, 1) : look_up(te_forward_caps, cols, 1);
    std::int64_t r = 1;
    while (2 * r <= cap && rows % (2 * r) == 0 && rows / (2 * r) >= target) {
        r *= 2;
    }
    if (r > 1) {
        return r;
    }
    // Too few rows for the target: short rows are packed all the same, since a program of one would be too little work.
    if (cols <= 128 && rows % 4 == 0) {
        return 4;
    }
    return cols <= 512 && rows % 2 == 0 ? 2 : 1;
}

std::int64_t te_programs(std::int64_t rows, std::int64_t cols, int compute_units, bool backward, int sm_margin) {
    const std::int64_t r = te_rows_per_program(rows, cols, compute_units, backward);
    if (!backward) {
        const std::int64_t units = std::max(1, compute_units - sm_margin);
        return cols <= te_flat_grid_cols ? rows / r : std::min(rows, units);
    }
    const std::int64_t base = std::min<std::int64_t>(rows, compute_units);
    return r > 1 ? std::min(rows / r, 16 * base) : base;
}

bool needs_64_bit_offsets(std::int64_t rows, std::int64_t cols, std::int64_t row_stride) {
    constexpr std::int64_t first_beyond = std::int64_t{1} << 31;
    if (cols >= first_beyond || rows >= first_beyond / 2) {
        return true;
    }
    // stride · M ≥ 2^31 − N, divided so that no product overflows.
    return row_stride >= (first_beyond - cols + rows - 1) / rows;
}

LigerSettings liger_settings(std::int64_t cols) {
    const std::int64_t block = next_power_of_two(cols);
    return {block, block >= 32768 ? 32 : block >= 8192 ? 16 : block >= 2048 ? 8 : 4};
}

std::int64_t liger_ascend_block_m(std::int64_t cols) {
    return cols <= liger_ascend_tile ? liger_ascend_tile / next_power_of_two(cols) : 1;
}

int quack_threads_per_row(std::int64_t cols, bool backward) {
    return look_up(backward ? quack_backward : quack_forward, cols, 256);
}

std::span<const Heuristic> heuristics() {
    return all_heuristics;
}

}  // namespace normtune
