// How a CpuKernel takes a run of rows through its passes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/cpu/cpu_launch.h"
#include "problem/elements.h"

namespace normtune::cpu {

namespace {

/// Rows whose dgamma is summed up before it is added to the thread's total, for the same reason.
constexpr std::int64_t most_summed_rows = 256;
/// Columns that a task of dgamma's own kernel (split) covers: its sums stay in the first cache.
constexpr std::int64_t split_columns = 512;

template <class Pass>
void sum_in_blocks(Pass pass, const RowTile& tile, std::int64_t block, double (&totals)[most_rows]) {
    for (std::int64_t begin = 0; begin < tile.cols; begin += block) {
        float sums[most_rows] = {};
        pass(tile, begin, std::min(tile.cols, begin + block), sums);
        for (int r = 0; r < most_rows; ++r) {
            totals[r] += static_cast<double>(sums[r]);
        }
    }
}

void write_in_blocks(WritePass pass, const RowTile& tile, std::int64_t block) {
    for (std::int64_t begin = 0; begin < tile.cols; begin += block) {
        pass(tile, begin, std::min(tile.cols, begin + block));
    }
}

}  // namespace

float CpuKernel::normal_scale(float rstd) const {
    if (!problem_.operation.contract().forward.scale) {
        return rstd;
    }
    return with_dtype(problem_.operation.dtype, [rstd]<Dtype T>() { return ElementFormat<T>::decode(ElementFormat<T>::encode(rstd)); });
}

RowTile CpuKernel::tile_at(const Launch& launch, const ThreadSpace& space, bool backward, std::int64_t row) const {
    const Operation& op = problem_.operation;
    const auto stride = [&](TensorRole role) { return strides_[static_cast<std::size_t>(role)]; };
    const auto tensor = [&](TensorRole role) {
        std::byte* const first = at(launch.tensors, role);
        return first == nullptr ? nullptr : first + row * stride(role).bytes;
    };
    const TensorRole x = backward ? op.backward_input() : TensorRole::x;
    RowTile tile;
    tile.cols = problem_.shape.cols;
    tile.x = tensor(x);
    tile.x_stride = stride(x).elements;
    auto* rstd = reinterpret_cast<float*>(tensor(TensorRole::rstd));
    if (backward) {
        tile.dy = tensor(TensorRole::dy);
        tile.ds = tensor(TensorRole::ds);
        tile.dx = tensor(TensorRole::dx);
        tile.rstd_in = rstd;
        tile.dgamma = passes_.column_gradient == nullptr ? space.dgamma : nullptr;
    } else {
        tile.residual = tensor(TensorRole::residual);
        tile.s = tensor(TensorRole::s);
        tile.y = tensor(TensorRole::y);
        tile.rstd_out = rstd;
    }
    if (!op.affine) {
        tile.gamma = space.ones;
        tile.gamma_columns = 0;
    } else if (space.gamma != nullptr) {
        tile.gamma = space.gamma;
    } else {
        tile.gamma = at(launch.tensors, TensorRole::gamma);
        tile.gamma_form = is_narrow(op.weight_dtype) ? GammaForm::narrow : GammaForm::wide;
        tile.offset = static_cast<float>(op.offset);
    }
    tile.eps = static_cast<float>(op.eps);
    tile.inverse_cols = 1.0F / static_cast<float>(tile.cols);
    tile.keep_fp32_sum = op.residual == ResidualPrecision::fp32;
    tile.stream_rows = configuration_.store_hint == CacheHint::streaming;
    // Stored on the way into the second pass, s is read again there unless the row is kept.
    tile.stream_s = tile.stream_rows && configuration_.residency != Residency::reload;
    tile.scratch_x = space.scratch_x;
    tile.scratch_m = space.scratch_m;
    tile.scratch_stride = row_floats_;
    return tile;
}

void CpuKernel::set_prefetch(RowTile& tile, int rows, std::int64_t row, std::int64_t end, std::int64_t next) const {
    const bool streaming = configuration_.load_hint == CacheHint::streaming;
    if (configuration_.stages == 1) {
        tile.prefetch = streaming ? Prefetch::streaming : Prefetch::none;
        tile.ahead = 0;
        return;
    }
    const std::int64_t within = row + std::int64_t{rows} * (configuration_.stages - 1);
    const std::int64_t target = within < end ? within : next + (within - end);
    const bool exists = target >= 0 && target + rows <= problem_.shape.rows;
    tile.prefetch = !exists ? Prefetch::none : streaming ? Prefetch::streaming : Prefetch::keep;
    tile.ahead = target - row;
}

void CpuKernel::forward_rows(const Launch& launch, const ThreadSpace& space, std::int64_t begin, std::int64_t end,
                             std::int64_t next) const {
    const bool before = space.gamma != nullptr && configuration_.gamma == GammaPlacement::before;
    const bool resident = passes_.resident_forward[0] != nullptr;
    for (std::int64_t row = begin; row < end;) {
        const bool whole = end - row >= passes_.rows;
        const int rows = whole ? passes_.rows : 1;
        const int which = whole ? 0 : 1;
        RowTile tile = tile_at(launch, space, false, row);
        set_prefetch(tile, rows, row, end, next);
        if (before) {
            prepare_gamma(launch, space);
        }
        if (resident) {
            // gamma `before` is loaded for each tile: then a call takes one.
            const std::int64_t count = before ? rows : (end - row) / rows * rows;
            passes_.resident_forward[which](tile, count);
            row += count;
            continue;
        }
        double sums[most_rows] = {};
        sum_in_blocks(passes_.square_sum[which], tile, sum_block_, sums);
        for (int r = 0; r < rows; ++r) {
            const double mean = sums[r] / static_cast<double>(tile.cols);
            const auto rstd = static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(tile.eps)));
            if (tile.rstd_out != nullptr) {
                tile.rstd_out[r] = rstd;
            }
            tile.scale[r] = normal_scale(rstd);
        }
        write_in_blocks(passes_.scale_rows[which], tile, write_block_);
        row += rows;
    }
}

void CpuKernel::backward_rows(const Launch& launch, ThreadSpace& space, std::int64_t begin, std::int64_t end, std::int64_t next) const {
    const bool before = space.gamma != nullptr && configuration_.gamma == GammaPlacement::before;
    const bool resident = passes_.resident_backward[0] != nullptr;
    for (std::int64_t row = begin; row < end;) {
        const bool whole = end - row >= passes_.rows;
        const int rows = whole ? passes_.rows : 1;
        const int which = whole ? 0 : 1;
        RowTile tile = tile_at(launch, space, true, row);
        set_prefetch(tile, rows, row, end, next);
        if (before) {
            prepare_gamma(launch, space);
        }
        std::int64_t count = rows;
        if (resident) {
            count = before ? rows : std::min(most_summed_rows, end - row) / rows * rows;
            passes_.resident_backward[which](tile, count);
        } else {
            double sums[most_rows] = {};
            for (int r = 0; r < rows; ++r) {
                tile.rstd[r] = std::isnan(tile.rstd_in[r]) ? std::numeric_limits<float>::quiet_NaN() : tile.rstd_in[r];
                tile.scale[r] = normal_scale(tile.rstd[r]);
            }
            sum_in_blocks(passes_.gradient_sum[which], tile, sum_block_, sums);
            for (int r = 0; r < rows; ++r) {
                const auto rstd = static_cast<double>(tile.rstd[r]);
                tile.coefficient[r] = static_cast<float>(rstd * rstd * rstd * sums[r] / static_cast<double>(tile.cols));
            }
            write_in_blocks(passes_.gradient_rows[which], tile, write_block_);
        }
        row += count;
        space.rows_summed += count;
        if (tile.dgamma != nullptr && space.rows_summed >= most_summed_rows) {
            space.fold(0, tile.cols);
        }
    }
}

void CpuKernel::split_dgamma(Launch& launch, ThreadSpace& space, int thread) const {
    const std::int64_t cols = problem_.shape.cols;
    const std::int64_t rows = problem_.shape.rows;
    for (std::int64_t begin = thread * split_columns; begin < cols;
         begin = launch.next_split.fetch_add(1, std::memory_order_relaxed) * split_columns) {
        const std::int64_t end = std::min(cols, begin + split_columns);
        for (std::int64_t row = 0; row < rows; row += most_summed_rows) {
            RowTile tile = tile_at(launch, space, true, row);
            tile.dgamma = space.dgamma;
            passes_.column_gradient(tile, std::min(most_summed_rows, rows - row), begin, end);
            space.fold(begin, end);
        }
        passes_.fold(space.dgamma_total, 0, 1, at(launch.tensors, TensorRole::dgamma), is_narrow(problem_.operation.weight_dtype), begin,
                     end);
    }
}

}  // namespace normtune::cpu
