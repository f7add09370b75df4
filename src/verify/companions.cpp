#include "verify/companions.h"

#include <algorithm>
#include <array>

namespace normtune {

namespace {

/// Primes, so that no tile of two rows or more divides them.
constexpr std::array<std::int64_t, 14> odd_rows{3, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 65521};

/// More than three tiles and a part of one, or more than one tile where rows are so wide that this takes too long.
std::int64_t tail_rows(std::int64_t tile, std::int64_t cols) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 20;
    const auto above = [](std::int64_t rows) {
        const auto* found = std::upper_bound(odd_rows.begin(), odd_rows.end(), rows);
        return found == odd_rows.end() ? rows + 1 : *found;
    };
    const std::int64_t three = above(3 * tile);
    return three * cols <= most_elements ? three : above(tile);
}

std::int64_t odd_cols_like(std::int64_t cols) {
    return cols < 1200 ? 409 : cols < 8000 ? 3571 : 17389;
}

}  // namespace

std::vector<Shape> companion_shapes(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const Shape& shape = problem.shape;
    const int threads = configuration.num_warps * device.warp_size;
    const int side_by_side = std::max(1, threads / std::max(1, configuration.threads_per_row));
    // Of a program that takes more rows than there are, one more than the problem's is a tile with a tail, too.
    const std::int64_t tile =
        std::min(std::max<std::int64_t>(configuration.rows_per_program, side_by_side), std::max<std::int64_t>(shape.rows, side_by_side));
    const std::int64_t gap = shape.row_stride - shape.cols;
    const std::int64_t other_gap = gap == 0 && problem.operation.can_have_stride() ? 64 : 0;
    std::vector<Shape> shapes;
    const auto add = [&](std::int64_t rows, std::int64_t cols, std::int64_t stride_gap) {
        const Shape candidate{rows, cols, cols + stride_gap};
        if (candidate != shape && std::find(shapes.begin(), shapes.end(), candidate) == shapes.end()) {
            shapes.push_back(candidate);
        }
    };
    add(tail_rows(tile, shape.cols), shape.cols, gap);
    add(1, shape.cols, gap);
    if (device.backend == Backend::cpu) {  // the code that is timed takes columns and strides as arguments
        add(7, shape.cols, other_gap);
        const std::int64_t odd = shape.cols % 2 == 0 ? shape.cols - 1 : shape.cols - 2;
        if (odd > 0) {
            add(7, odd, gap);
        }
    }
    const std::int64_t like = odd_cols_like(shape.cols);
    add(tail_rows(tile, like), like, device.backend == Backend::cpu ? 0 : other_gap);
    return shapes;
}

}  // namespace normtune
