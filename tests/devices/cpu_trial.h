// Runs one configuration on one problem on the CPU and compares it with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "devices/cpu/cpu_device.h"
#include "devices/cpu_reference.h"

namespace normtune::test {

inline constexpr std::byte poison{0xA5};

inline std::vector<double> drawn(std::mt19937& engine, std::int64_t count, Dtype dtype, double mean, double deviation) {
    std::normal_distribution<double> normal(mean, deviation);
    std::vector<double> values(static_cast<std::size_t>(count));
    std::generate(values.begin(), values.end(), [&] { return rounded(normal(engine), dtype); });
    return values;
}

inline void upload(Buffers& buffers, const Tensor& tensor, const std::vector<double>& values) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()), poison);
    for (std::int64_t r = 0; r < tensor.rows && !values.empty(); ++r) {
        for (std::int64_t c = 0; c < tensor.cols; ++c) {
            put(bytes, tensor.dtype, r * tensor.row_stride + c, values[static_cast<std::size_t>(r * tensor.cols + c)]);
        }
    }
    buffers.upload(tensor.role, 0, bytes);
}

/// The largest of |value - expected| / (scale of the row or of the whole tensor).
inline double worst_error(const Buffers& buffers, const Tensor& tensor, const std::vector<double>& expected, bool by_row) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()));
    buffers.download(tensor.role, 0, bytes);
    double worst = 0;
    for (std::int64_t r = 0; r < tensor.rows; ++r) {
        double scale = 1e-3;
        for (std::int64_t c = 0; by_row && c < tensor.cols; ++c) {
            scale = std::max(scale, std::abs(expected[static_cast<std::size_t>(r * tensor.cols + c)]));
        }
        for (std::int64_t c = 0; c < tensor.cols; ++c) {
            const double value = element(bytes, tensor.dtype, r * tensor.row_stride + c);
            const double wanted = expected[static_cast<std::size_t>(r * tensor.cols + c)];
            const double error = std::abs(value - wanted) / (by_row ? scale : std::max(1e-3, std::abs(wanted)));
            worst = std::isnan(error) ? INFINITY : std::max(worst, error);
        }
    }
    return worst;
}

/// Compares every output; `device` must admit the configuration.
inline void expect_right(Device& device, const Problem& problem, const Configuration& configuration) {
    const Operation& op = problem.operation;
    const std::int64_t rows = problem.shape.rows;
    const std::int64_t cols = problem.shape.cols;
    std::mt19937 engine(7);
    Values values;
    values.x = drawn(engine, rows * cols, op.dtype, 0, 1);
    if (op.adds_residual()) {
        values.residual = drawn(engine, rows * cols, op.dtype, 0, 1);
        values.ds = drawn(engine, rows * cols, op.dtype, 0, 1);
    }
    values.gamma = drawn(engine, cols, op.weight_dtype, 1 - op.offset, 0.1);
    values.dy = drawn(engine, rows * cols, op.dtype, 0, 1);
    values.rstd = drawn(engine, rows, Dtype::fp32, 1, 0.1);
    reference(problem, values);

    const std::unique_ptr<Kernel> kernel = device.compile(problem, configuration);
    const std::unique_ptr<Buffers> buffers = device.allocate(problem, {});
    const std::vector<double> nothing;
    for (const Tensor& tensor : tensors(problem)) {
        const bool in = tensor.access != Access::out;
        switch (tensor.role) {
            case TensorRole::x:
                upload(*buffers, tensor, values.x);
                break;
            case TensorRole::residual:
                upload(*buffers, tensor, values.residual);
                break;
            case TensorRole::gamma:
                upload(*buffers, tensor, values.gamma);
                break;
            case TensorRole::dy:
                upload(*buffers, tensor, values.dy);
                break;
            case TensorRole::ds:
                upload(*buffers, tensor, values.ds);
                break;
            case TensorRole::rstd:
                upload(*buffers, tensor, in ? values.rstd : nothing);
                break;
            default:
                upload(*buffers, tensor, nothing);
                break;
        }
    }
    device.run(*kernel, *buffers, 0, Workspace::cleared);

    const double u = unit_roundoff(op.dtype);
    const double tight = op.dtype == Dtype::fp32 ? 1e-5 : (op.casting == Casting::gemma ? 1.3 : 2.7) * u;
    for (const Tensor& tensor : tensors(problem)) {
        SCOPED_TRACE(problem.key() + " " + configuration.key() + " " + std::string(tensor_names.name(tensor.role)));
        switch (tensor.role) {
            case TensorRole::y:
                EXPECT_LE(worst_error(*buffers, tensor, values.y, false), tight);
                break;
            case TensorRole::s:
                EXPECT_LE(worst_error(*buffers, tensor, values.s, false), tight);
                break;
            case TensorRole::rstd:
                EXPECT_LE(worst_error(*buffers, tensor, values.rstd_out, false), 5e-6);
                break;
            case TensorRole::dx:
                EXPECT_LE(worst_error(*buffers, tensor, values.dx, true), tight);
                break;
            case TensorRole::dgamma: {
                const double bound = (op.weight_dtype == Dtype::fp32 ? 1e-5 : 2 * unit_roundoff(op.weight_dtype)) +
                                     (op.casting == Casting::gemma ? 0 : 2 * u);
                EXPECT_LE(worst_error(*buffers, tensor, values.dgamma, true), bound);
                break;
            }
            case TensorRole::dy:
                if (op.in_place) {
                    EXPECT_LE(worst_error(*buffers, tensor, values.dx, true), tight);
                }
                break;
            case TensorRole::x:
                if (tensor.result == TensorRole::y) {
                    EXPECT_LE(worst_error(*buffers, tensor, values.y, false), tight);
                }
                break;
            case TensorRole::residual:
                if (tensor.result == TensorRole::s) {
                    EXPECT_LE(worst_error(*buffers, tensor, values.s, false), tight);
                }
                break;
            default:
                break;
        }
        if (tensor.role == TensorRole::x && tensor.row_stride > tensor.cols) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()));
            buffers->download(tensor.role, 0, bytes);
            const std::int64_t element_bytes = bytes_of(tensor.dtype);
            for (std::int64_t r = 0; r + 1 < tensor.rows; ++r) {
                const auto* row = bytes.data() + r * tensor.row_stride * element_bytes;
                EXPECT_TRUE(std::all_of(row + tensor.cols * element_bytes, row + tensor.row_stride * element_bytes,
                                        [](std::byte b) { return b == poison; }));
            }
        }
    }
}

}  // namespace normtune::test
