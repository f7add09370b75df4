#include "kernels/gpu/macros.h"

#include <array>

#include <fmt/format.h>

#include "kernels/gpu/layout.h"
#include "kernels/gpu/source_parts.h"
#include "space/heuristics.h"

namespace normtune::gpu {
namespace {

bool wide_offsets(const Configuration& c, const Problem& problem) {
    const Shape& shape = problem.shape;
    return c.offset_bits == OffsetBits::bits64 ||
           (c.offset_bits == OffsetBits::auto_ && needs_64_bit_offsets(shape.rows, shape.cols, shape.row_stride));
}

}  // namespace

std::vector<Macro> macros(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    std::vector<Macro> out;
    const auto add = [&out](std::string_view name, auto value) {
        out.push_back({fmt::format("NT_{}", name), fmt::format("{}", static_cast<std::int64_t>(value))});
    };
    const Operation& operation = problem.operation;
    const RowLayout layout = row_layout(c, problem, device);
    const bool forward = operation.has_forward();
    const bool backward = operation.has_backward();
    const bool dgamma = backward && operation.affine;
    const bool split = dgamma && c.dgamma == DgammaMethod::split;
    const bool reduce = dgamma && has_reduce_kernel(c.dgamma);  // whether or not this M needs it
    const GridShape grid = grid_shape(c, problem, device);

    // Which kernels.
    add("FORWARD", forward);
    add("BACKWARD", backward);
    add("SPLIT", split);
    add("REDUCE", reduce);

    // What is computed.
    add("FUSED", operation.fused());
    add("DTYPE", operation.dtype);
    add("WEIGHT_DTYPE", operation.weight_dtype);
    add("CASTING", operation.casting);
    add("AFFINE", operation.affine);
    add("OFFSET", operation.offset);
    add("IN_PLACE", backward && operation.in_place);
    add("RESIDUAL_FP32", forward && operation.residual == ResidualPrecision::fp32);
    add("COLS", problem.shape.cols);
    add("X_STRIDE", problem.shape.row_stride);
    // In full mode the fused backward reads the contiguous s that the forward wrote.
    add("BACKWARD_X_STRIDE", forward && operation.fused() ? problem.shape.cols : problem.shape.row_stride);

    // How.
    add("WARP_SIZE", device.warp_size);
    add("HAS_ASYNC_COPY", device.has_async_copy);
    add("THREADS", layout.threads);
    add("THREADS_PER_ROW", c.threads_per_row);
    add("TILE_ROWS", c.tile_rows);
    add("ROWS_PER_PROGRAM", c.rows_binding == RowsBinding::constexpr_ ? grid.rows_per_program : 0);
    add("BLOCK", c.block_size);
    add("RESIDENCY", c.residency);
    add("REDUCTION", c.reduction);
    add("GRID", c.grid);
    add("MIN_PROGRAMS", least_resident_programs(c, device));
    add("GAMMA", c.gamma);
    add("VECTOR", layout.vector_elements);
    add("LOAD_HINT", c.load_hint);
    add("STORE_HINT", c.store_hint);
    add("STAGES", c.stages);
    add("OFFSET_BITS", wide_offsets(c, problem) ? 64 : 32);
    add("DGAMMA", dgamma ? c.dgamma : DgammaMethod::partials);
    add("DEFERRED_STEPS", dgamma ? c.deferred_steps : 0);
    const bool tile = dgamma && (reduce || c.dgamma == DgammaMethod::cooperative);
    add("REDUCE_ROWS", tile ? c.reduce_rows : 1);
    add("REDUCE_COLS", tile ? c.reduce_cols : 1);
    add("REDUCE_THREADS", tile ? c.reduce_warps * device.warp_size : device.warp_size);
    add("WAVES_PER_EU", c.waves_per_eu);
    add("SHARED_FORWARD", forward ? shared_bytes(c, problem, device, false) : 0);
    add("SHARED_BACKWARD", backward ? shared_bytes(c, problem, device, true) : 0);
    return out;
}

std::vector<std::string> define_options(const std::vector<Macro>& macros) {
    std::vector<std::string> out;
    out.reserve(macros.size());
    for (const Macro& macro : macros) {
        out.push_back(fmt::format("-D{}={}", macro.name, macro.value));
    }
    return out;
}

std::string_view source() {
    static const std::string whole = [] {
        // The order in which each part may use those before it.
        constexpr std::array order{"prelude.gpu.h", "nvidia.gpu.h", "amd.gpu.h",    "types.gpu.h",   "layout.gpu.h",
                                   "rows.gpu.h",    "values.gpu.h", "reduce.gpu.h", "forward.gpu.h", "backward.gpu.h"};
        std::string text;
        for (const std::string_view name : order) {
            for (const SourcePart& part : source_parts()) {
                if (part.path == name) {
                    text += part.text;
                    text += '\n';
                }
            }
        }
        return text;
    }();
    return whole;
}

std::string self_contained_source(const std::vector<Macro>& macros) {
    std::string text;
    for (const Macro& macro : macros) {
        text += fmt::format("#define {} {}\n", macro.name, macro.value);
    }
    text += '\n';
    text += source();
    return text;
}

}  // namespace normtune::gpu
