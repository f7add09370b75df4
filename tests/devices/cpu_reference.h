// RMSNorm in float64 with the casting's rounding points, written as plainly as possible.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cpu/element.h"
#include "problem/problem.h"

namespace normtune::test {

inline double rounded(double v, Dtype dtype) {
    const auto f = static_cast<float>(v);
    switch (dtype) {
        case Dtype::bf16:
            return static_cast<double>(cpu::to_float(cpu::to_bf16(f)));
        case Dtype::fp16:
            return static_cast<double>(cpu::to_float(cpu::to_fp16(f)));
        default:
            return static_cast<double>(f);
    }
}

inline double element(const std::vector<std::byte>& bytes, Dtype dtype, std::int64_t i) {
    if (dtype == Dtype::fp32) {
        float f;
        std::memcpy(&f, bytes.data() + i * 4, 4);
        return static_cast<double>(f);
    }
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + i * 2, 2);
    return static_cast<double>(dtype == Dtype::bf16 ? cpu::to_float(cpu::bf16{bits}) : cpu::to_float(cpu::fp16{bits}));
}

inline void put(std::vector<std::byte>& bytes, Dtype dtype, std::int64_t i, double v) {
    const auto f = static_cast<float>(v);
    if (dtype == Dtype::fp32) {
        std::memcpy(bytes.data() + i * 4, &f, 4);
        return;
    }
    const std::uint16_t bits = dtype == Dtype::bf16 ? cpu::to_bf16(f).bits : cpu::to_fp16(f).bits;
    std::memcpy(bytes.data() + i * 2, &bits, 2);
}

/// Values of a problem, rows × cols each without gaps; what a problem does not have is empty.
struct Values {
    std::vector<double> x, residual, gamma, dy, ds, rstd;  // inputs (rstd: backward alone)
    std::vector<double> y, s, rstd_out, dx, dgamma;
};

/// Fills the outputs.
inline void reference(const Problem& problem, Values& v) {
    const Operation& op = problem.operation;
    const std::int64_t rows = problem.shape.rows;
    const std::int64_t cols = problem.shape.cols;
    const auto round_t = [&](double value) { return rounded(value, op.dtype); };
    const bool none = op.casting == Casting::none;
    std::vector<double> g(static_cast<std::size_t>(cols), 1.0);
    for (std::int64_t c = 0; op.affine && c < cols; ++c) {
        const double w = v.gamma[static_cast<std::size_t>(c)];
        g[static_cast<std::size_t>(c)] = none ? round_t(op.offset + round_t(w)) : op.offset + w;
    }
    const auto size = static_cast<std::size_t>(rows * cols);
    v.dgamma.assign(static_cast<std::size_t>(cols), 0.0);
    v.y.assign(size, 0.0);
    v.s.assign(size, 0.0);
    v.dx.assign(size, 0.0);
    v.rstd_out.assign(static_cast<std::size_t>(rows), 0.0);
    for (std::int64_t r = 0; r < rows; ++r) {
        const auto at = [&](std::int64_t c) { return static_cast<std::size_t>(r * cols + c); };
        std::vector<double> row(static_cast<std::size_t>(cols));
        double squares = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            double x = v.x[at(c)];
            if (op.adds_residual() && op.has_forward()) {
                const double sum = x + v.residual[at(c)];
                v.s[at(c)] = round_t(sum);
                x = op.residual == ResidualPrecision::fp32 ? sum : v.s[at(c)];
            }
            row[static_cast<std::size_t>(c)] = x;
            squares += none ? round_t(x * x) : x * x;
        }
        double rstd = 1.0 / std::sqrt(squares / static_cast<double>(cols) + op.eps);
        if (!op.has_forward()) {
            rstd = v.rstd[static_cast<std::size_t>(r)];
        }
        v.rstd_out[static_cast<std::size_t>(r)] = rstd;
        const auto normal = [&](double x) { return op.casting == Casting::gemma ? x * rstd : round_t(x * (none ? round_t(rstd) : rstd)); };
        for (std::int64_t c = 0; c < cols; ++c) {
            v.y[at(c)] = normal(row[static_cast<std::size_t>(c)]) * g[static_cast<std::size_t>(c)];
        }
        if (!op.has_backward()) {
            continue;
        }
        const auto saved = [&](std::int64_t c) { return op.adds_residual() && op.has_forward() ? v.s[at(c)] : v.x[at(c)]; };
        const auto m = [&](std::int64_t c) {
            const double product = v.dy[at(c)] * g[static_cast<std::size_t>(c)];
            return none ? round_t(product) : product;
        };
        double dot = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            dot += m(c) * saved(c);
        }
        for (std::int64_t c = 0; c < cols; ++c) {
            v.dx[at(c)] =
                rstd * m(c) - rstd * rstd * rstd / static_cast<double>(cols) * dot * saved(c) + (op.adds_residual() ? v.ds[at(c)] : 0.0);
            const double product = v.dy[at(c)] * normal(saved(c));
            v.dgamma[static_cast<std::size_t>(c)] += none ? round_t(product) : product;
        }
    }
}

}  // namespace normtune::test
