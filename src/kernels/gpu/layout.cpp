#include "kernels/gpu/layout.h"

#include <algorithm>

#include "space/common_limits.h"

namespace normtune::gpu {
namespace {

constexpr int split_threads_per_unit = 1024;  // that the parts of a split sum are to give work to
constexpr std::int64_t barrier_bytes = 8;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t align16(std::int64_t bytes) {
    return ceil_div(bytes, 16) * 16;
}

/// With the barriers behind `bytes`.
std::int64_t with_barriers(std::int64_t bytes, const Configuration& c, const RowLayout& layout) {
    const int barriers = (layout.bulk ? layout.slots : 0) + (c.cluster > 1 ? 2 * layout.groups : 0);
    return barriers > 0 ? align16(bytes) + align16(barriers * barrier_bytes) : bytes;
}

}  // namespace

RowLayout row_layout(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    RowLayout out;
    const int cols = static_cast<int>(problem.shape.cols);
    out.threads = c.num_warps * device.warp_size;
    out.groups = out.threads / c.threads_per_row;
    out.step_rows = out.groups * c.tile_rows;
    const int element = bytes_of(problem.operation.dtype);
    out.vector_bytes = access_bytes(c.vector_bytes, problem);
    out.vector_elements = out.vector_bytes / element;
    out.sweep_cols = c.cluster * c.threads_per_row * out.vector_elements;
    if (out.sweep_cols > 0) {
        out.accesses = c.block_size == whole_row ? static_cast<int>(ceil_div(cols, out.sweep_cols)) : c.block_size / out.sweep_cols;
    }
    out.chunks = c.block_size == whole_row ? 1 : static_cast<int>(ceil_div(cols, c.block_size));
    out.row_accesses = out.accesses * out.chunks;
    const bool shared = c.residency == Residency::shared;
    out.async_copy = device.has_async_copy && (c.stages > 1 || shared);
    out.bulk = out.async_copy && c.staging != Staging::async;
    out.slots = out.async_copy || shared ? std::max(1, out.bulk && shared ? c.stages : c.stages - 1) : 0;
    return out;
}

bool reads_ds_directly(const Configuration& c, const Problem& problem) {
    return c.incoming_ds == IncomingDs::direct && stages_ds(c, problem);
}

bool sums_dgamma(const Configuration& c, const Problem& problem) {
    return has_dgamma(problem) && c.dgamma != DgammaMethod::split && c.dgamma != DgammaMethod::beside;
}

bool sums_in_memory(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    return sums_dgamma(c, problem) && row_layout(c, problem, device).chunks > 1;
}

bool has_reduce_kernel(DgammaMethod method) {
    return method == DgammaMethod::partials || method == DgammaMethod::published || method == DgammaMethod::split;
}

std::int64_t programs_beside(const Configuration& c, const Problem& problem) {
    if (!has_dgamma(problem) || c.dgamma != DgammaMethod::beside) {
        return 0;
    }
    return ceil_div(ceil_div(problem.shape.cols, c.reduce_cols) * c.reduce_parts, c.cluster) * c.cluster;
}

bool rows_follow(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const RowLayout layout = row_layout(c, problem, device);
    const Shape& shape = problem.shape;
    return c.cluster == 1 && layout.row_accesses == 1 && shape.cols == layout.sweep_cols && shape.row_stride == shape.cols;
}

std::int64_t program_cols(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const RowLayout layout = row_layout(c, problem, device);
    return std::int64_t{layout.sweep_cols} / c.cluster * (layout.bulk ? layout.row_accesses : 1);
}

std::int64_t row_shared_bytes(const Configuration& c, const Problem& problem, const DeviceInfo& device, bool backward) {
    const RowLayout layout = row_layout(c, problem, device);
    const std::int64_t row_warps = ceil_div(c.threads_per_row, device.warp_size);
    const std::int64_t scratch = c.cluster > 1 || row_warps > 1 ? c.cluster * layout.groups * row_warps * c.tile_rows : 0;
    std::int64_t bytes = align16(2 * scratch * 4);
    if (problem.operation.affine && c.gamma == GammaPlacement::hoisted && c.residency == Residency::shared) {
        bytes += std::int64_t{layout.row_accesses} * layout.threads * layout.vector_elements * bytes_of(problem.operation.weight_dtype);
    }
    const int staged = problem.operation.row_inputs(backward) - (backward && reads_ds_directly(c, problem) ? 1 : 0);
    bytes += std::int64_t{layout.slots} * staged * c.tile_rows * layout.row_accesses * layout.threads * layout.vector_bytes;
    if (backward && sums_dgamma(c, problem)) {
        const int span = std::max(c.threads_per_row, device.warp_size);
        const std::int64_t parts = layout.threads / span;
        if (layout.chunks == 1 && parts > 1) {
            const std::int64_t sums = parts * layout.accesses * (layout.sweep_cols / c.cluster) * 4;
            bytes = publishes(c.dgamma) ? align16(bytes) + sums : std::max(bytes, sums);
        }
        if (c.deferred_steps > 0) {
            bytes = align16(bytes) + std::int64_t{c.deferred_steps} * c.tile_rows * layout.accesses * layout.threads * layout.vector_bytes;
        }
        if (c.dgamma == DgammaMethod::atomic) {
            bytes = std::max<std::int64_t>(bytes, 16);
        }
    }
    return with_barriers(bytes, c, layout);
}

std::int64_t column_shared_bytes(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const RowLayout layout = row_layout(c, problem, device);
    const auto scratch = [&](int width) {  // elements that a lane takes at once
        const int lanes = c.reduce_cols / width;
        return std::int64_t{layout.threads} / std::max(lanes, std::min(device.warp_size, layout.threads)) * lanes * width * 4;
    };
    const int of_partials = c.reduce_cols % 4 == 0 && problem.shape.cols % 4 == 0 ? 4 : 1;
    std::int64_t bytes = 0;
    if (programs_beside(c, problem) > 0) {
        bytes = scratch(std::min(layout.vector_elements, c.reduce_cols));
        if (c.reduce_parts > c.reduce_cluster) {
            bytes = std::max(bytes, scratch(of_partials));
        }
        bytes = align16(bytes);
        if (c.reduce_cluster > 1) {  // what the cluster's programs send to its first, and the barrier that counts it
            bytes += align16(std::int64_t{c.reduce_cluster} * c.reduce_cols * 4) + align16(barrier_bytes);
        }
    } else if (has_dgamma(problem) && c.dgamma == DgammaMethod::cooperative) {
        bytes = scratch(of_partials);
    }
    return bytes == 0 ? 0 : with_barriers(bytes, c, layout);
}

std::int64_t shared_bytes(const Configuration& c, const Problem& problem, const DeviceInfo& device, bool backward) {
    return std::max(row_shared_bytes(c, problem, device, backward), backward ? column_shared_bytes(c, problem, device) : 0);
}

GridShape grid_shape(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const std::int64_t rows = problem.shape.rows;
    const std::int64_t tiles = ceil_div(rows, c.rows_per_program);
    switch (c.grid) {
        case Grid::per_row:
            return {rows, 1};
        case Grid::packed:
            return {tiles, c.rows_per_program};
        case Grid::persistent_strided:
        case Grid::persistent_balanced:
            return {persistent_programs(c, tiles, device), c.rows_per_program};
        case Grid::persistent_contiguous:
            break;
    }
    const std::int64_t share = ceil_div(ceil_div(rows, persistent_programs(c, tiles, device)), c.rows_per_program) * c.rows_per_program;
    return {ceil_div(rows, share), share};
}

SplitShape split_shape(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const std::int64_t tiles = ceil_div(problem.shape.cols, c.reduce_cols);
    const std::int64_t threads = std::int64_t{c.reduce_warps} * device.warp_size;
    const std::int64_t fill = device.compute_units * std::max<std::int64_t>(1, split_threads_per_unit / threads);
    const std::int64_t parts = std::min(ceil_div(fill, tiles), ceil_div(problem.shape.rows, c.reduce_rows));
    return {tiles, std::max<std::int64_t>(1, parts)};
}

std::int64_t partial_rows(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    if (!has_dgamma(problem)) {
        return 0;
    }
    if (c.dgamma == DgammaMethod::beside) {
        return c.reduce_parts > c.reduce_cluster ? c.reduce_parts / c.reduce_cluster : 0;
    }
    if (c.dgamma == DgammaMethod::split) {
        const std::int64_t parts = split_shape(c, problem, device).parts;
        return parts > 1 ? parts : 0;
    }
    const std::int64_t programs = grid_shape(c, problem, device).programs;
    if (sums_in_memory(c, problem, device)) {
        return c.dgamma == DgammaMethod::atomic ? 1 : programs * row_layout(c, problem, device).groups;
    }
    if (programs == 1 && !publishes(c.dgamma)) {
        return 0;  // one program has the whole sum
    }
    return c.dgamma == DgammaMethod::atomic ? 1 : programs;
}

std::int64_t launch_counters(const Configuration& c, const Problem& problem) {
    return programs_beside(c, problem) > 0 ? ceil_div(problem.shape.cols, c.reduce_cols) : 1;
}

int resident_programs(const Configuration& c, const DeviceInfo& device) {
    return std::max(1, device.threads_per_compute_unit / (c.num_warps * device.warp_size));
}

}  // namespace normtune::gpu
