#include "kernels/gpu/macros.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "kernels/gpu/layout.h"
#include "kernels/gpu/limits.h"
#include "kernels/gpu/source_parts.h"
#include "space/axes.h"
#include "space/common_limits.h"
#include "space/heuristics.h"

namespace normtune::gpu {
namespace {

bool wide_offsets(const Configuration& c, const Problem& problem) {
    const Shape& shape = problem.shape;
    return c.offset_bits == OffsetBits::_64 ||
           (c.offset_bits == OffsetBits::auto_ && needs_64_bit_offsets(shape.rows, shape.cols, shape.row_stride));
}

/// NVIDIA's loads through the read-only path are one instruction with ".cg" and without.
bool reads_alike(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const Operation& operation = problem.operation;
    return device.backend == Backend::cuda && c.load_hint == CacheHint::cache_global && c.residency == Residency::registers &&
           !row_layout(c, problem, device).async_copy && !operation.in_place;
}

/// What the problem makes no use of stands at a fixed value, so that the code of others serves it, too.
Configuration used_part(Configuration c, const Problem& problem, const DeviceInfo& device) {
    if (reads_alike(c, problem, device)) {
        c.load_hint = CacheHint::default_;
    }
    if (row_layout(c, problem, device).bulk && c.load_hint == CacheHint::cache_global) {  // past L1 anyhow
        c.load_hint = CacheHint::default_;
    }
    const bool dgamma = has_dgamma(problem);
    if (!dgamma) {
        c.dgamma = DgammaMethod::partials;
        c.deferred_steps = 0;
    }
    if (c.dgamma != DgammaMethod::beside) {
        c.reduce_parts = c.reduce_cluster = 1;
    }
    if (!dgamma || c.dgamma == DgammaMethod::atomic) {  // no tile sums partial rows up
        c.reduce_rows = c.reduce_cols = c.reduce_warps = 1;
    }
    return c;
}

void define_values(std::string& out, std::string_view macro, std::span<const std::string_view> names) {
    for (std::size_t value = 0; value < names.size(); ++value) {
        out += fmt::format("#define {}_{} {}\n", macro, names[value], value);
    }
}

/// "#define NT_RESIDENCY_registers 0", …: what the source compares its macros with, by NT_IS(RESIDENCY, registers).
std::string value_names() {
    std::string text = "#define NT_IS(macro, value) (NT_##macro == NT_##macro##_##value)\n";
    define_values(text, "NT_DTYPE", dtype_names.names);
    define_values(text, "NT_CASTING", casting_names.names);
    for (const AxisRow& axis : axis_table) {
        if (!axis.macro.empty()) {
            define_values(text, axis.macro, axis.domain.names);
        }
    }
    return text + "\n";
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
    const bool dgamma = has_dgamma(problem);
    const bool split = dgamma && c.dgamma == DgammaMethod::split;
    const bool reduce = dgamma && has_reduce_kernel(c.dgamma);  // whether or not this M needs it
    const GridShape grid = grid_shape(c, problem, device);

    // Which kernels.
    add("FORWARD", forward);
    add("BACKWARD", backward);
    add("SPLIT", split);
    add("REDUCE", reduce);

    // What is computed.
    add("FUSED", operation.adds_residual());
    add("DTYPE", operation.dtype);
    add("WEIGHT_DTYPE", operation.weight_dtype);
    add("CASTING", operation.casting);
    add("AFFINE", operation.affine);
    add("OFFSET", operation.offset);
    add("RSTD", operation.has(TensorRole::rstd));
    add("IN_PLACE", operation.in_place);
    add("RESIDUAL_FP32", forward && operation.residual == ResidualPrecision::fp32);
    add("COLS", problem.shape.cols);
    add("X_STRIDE", problem.shape.row_stride);
    add("BACKWARD_X_STRIDE", tensor_of(problem, operation.backward_input()).row_stride);

    // How.
    add("WARP_SIZE", device.warp_size);
    add("HAS_ASYNC_COPY", device.has_async_copy);
    const Configuration used = used_part(c, problem, device);
    for (const AxisRow& axis : axis_table) {
        if (!axis.macro.empty()) {
            out.push_back({std::string(axis.macro), fmt::format_int(axis_value(used, axis.axis)).str()});
        }
    }
    add("THREADS", layout.threads);
    add("ROWS_PER_PROGRAM", c.rows_binding == RowsBinding::constexpr_ ? grid.rows_per_program : 0);
    add("MIN_PROGRAMS", least_resident_programs(c, problem, device));
    add("VECTOR", layout.vector_elements);
    add("OFFSET_BITS", wide_offsets(c, problem) ? 64 : 32);
    add("REDUCE_THREADS", used.reduce_warps * device.warp_size);
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
        constexpr std::array order{"prelude.gpu.h", "nvidia.gpu.h",  "amd.gpu.h",     "types.gpu.h",  "cluster.gpu.h",
                                   "layout.gpu.h",  "bulk.gpu.h",    "rows.gpu.h",    "values.gpu.h", "reduce.gpu.h",
                                   "columns.gpu.h", "forward.gpu.h", "backward.gpu.h"};
        std::string text = value_names();
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
