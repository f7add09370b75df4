#include "verify/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/float_formats.h"
#include "verify/fill.h"

namespace normtune {
namespace {

std::vector<std::byte> bytes_of_values(Dtype dtype, const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(dtype)));
    encode(dtype, values, 0, bytes.data());
    return bytes;
}

TEST(Oracle, ForwardByHand) {
    Problem problem = parse_problem_key("rms_norm/forward/fp32/gemma/2x2/offset1");
    problem.operation.eps = 0.5;
    HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::fp32, {3, 4, 0, 0})},
                       {TensorRole::gamma, bytes_of_values(Dtype::fp32, {1, -0.5})}};
    const Reference reference = compute_reference(problem, inputs, {0, 1});
    const double rstd = 1 / std::sqrt(12.5 + 0.5);
    EXPECT_DOUBLE_EQ(reference.rstd[0], rstd);
    EXPECT_DOUBLE_EQ(reference.rstd[1], 1 / std::sqrt(0.5));
    EXPECT_EQ(reference.y, (std::vector<double>{3 * rstd * 2, 4 * rstd * 0.5, 0, 0}));
}

TEST(Oracle, RoundingPointsTellTheCastingsApart) {
    // One element: n = x·rstd = 1/√(1 + 2⁻²) with x = 1, eps = ¼: 0.894427…, which bf16 holds as 0.89453125.
    const auto y_of = [](const char* key) {
        Problem problem = parse_problem_key(key);
        problem.operation.eps = 0.25;
        HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::bf16, {1})},
                           {TensorRole::gamma, bytes_of_values(Dtype::bf16, {1.4296875})}};
        return compute_reference(problem, inputs, {0}).y_rounded[0];
    };
    const double n = 1 / std::sqrt(1.25);
    EXPECT_EQ(y_of("rms_norm/forward/bf16/llama/1x1"), round_to_bf16(round_to_bf16(n) * 1.4296875));
    EXPECT_EQ(y_of("rms_norm/forward/bf16/gemma/1x1"), round_to_bf16(n * 1.4296875));
    EXPECT_EQ(y_of("rms_norm/forward/bf16/none/1x1"), y_of("rms_norm/forward/bf16/llama/1x1"));
}

TEST(Oracle, FusedAddNormalisesTheRoundedSumOrTheWideOne) {
    const auto run = [](const char* key) {
        Problem problem = parse_problem_key(key);
        HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::bf16, {1, 1})},
                           {TensorRole::residual, bytes_of_values(Dtype::bf16, {0x1.cp-8f, 1})}};
        return compute_reference(problem, inputs, {0});
    };
    const Reference rounded = run("fused_add_rms_norm/forward/bf16/gemma/1x2/weightless");
    const Reference wide = run("fused_add_rms_norm/forward/bf16/gemma/1x2/weightless/residual_fp32");
    EXPECT_EQ(rounded.s, (std::vector<float>{1 + 0x1p-7f, 2}));
    EXPECT_EQ(wide.s, rounded.s);
    const double s = 1 + 0x1.cp-8;
    EXPECT_NEAR(wide.y[0], s / std::sqrt((s * s + 4) / 2 + 1e-6), 1e-12);
    EXPECT_NEAR(rounded.y[0], (1 + 0x1p-7) / std::sqrt(((1 + 0x1p-7) * (1 + 0x1p-7) + 4) / 2 + 1e-6), 1e-12);
}

/// The loss Σ y·dy as a function of x and gamma, for differences.
double loss(const std::vector<double>& x, const std::vector<double>& gamma, const std::vector<double>& dy, double eps) {
    double squares = 0;
    for (double v : x) {
        squares += v * v;
    }
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(x.size()) + eps);
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
        sum += x[j] * rstd * gamma[j] * dy[j];
    }
    return sum;
}

TEST(Oracle, GradientsAreTheDerivativesOfTheForward) {
    const std::vector<float> x{0.5f, -1.25f, 2, 0.125f, -3};
    const std::vector<float> gamma{1, 0.5f, -0.75f, 1.25f, 2};
    const std::vector<float> dy{0.25f, 1, -2, 0.5f, 1.5f};
    const std::vector<float> ds{1, 2, 3, 4, 5};
    Problem problem = parse_problem_key("fused_add_rms_norm/full/fp32/llama/1x5");
    HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::fp32, x)},
                       {TensorRole::residual, bytes_of_values(Dtype::fp32, {0, 0, 0, 0, 0})},
                       {TensorRole::gamma, bytes_of_values(Dtype::fp32, gamma)},
                       {TensorRole::dy, bytes_of_values(Dtype::fp32, dy)},
                       {TensorRole::ds, bytes_of_values(Dtype::fp32, ds)}};
    const Reference reference = compute_reference(problem, inputs, {0});
    const std::vector<double> wide_x(x.begin(), x.end());
    const std::vector<double> wide_gamma(gamma.begin(), gamma.end());
    const std::vector<double> wide_dy(dy.begin(), dy.end());
    constexpr double step = 1e-5;
    for (std::size_t j = 0; j < x.size(); ++j) {
        std::vector<double> up = wide_x;
        std::vector<double> down = wide_x;
        up[j] += step;
        down[j] -= step;
        const double slope = (loss(up, wide_gamma, wide_dy, 1e-6) - loss(down, wide_gamma, wide_dy, 1e-6)) / (2 * step);
        EXPECT_NEAR(reference.dx[j], slope + static_cast<double>(ds[j]), 1e-8);
        up = down = wide_gamma;
        up[j] += step;
        down[j] -= step;
        const double gamma_slope = (loss(wide_x, up, wide_dy, 1e-6) - loss(wide_x, down, wide_dy, 1e-6)) / (2 * step);
        EXPECT_NEAR(reference.dgamma[j], gamma_slope, 1e-8);
    }
}

TEST(OracleRows, AllOfASmallShapeAndEdgesOfALargeOne) {
    EXPECT_EQ(oracle_rows({5, 100, 100}, 1000, 1), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    const std::vector<std::int64_t> rows = oracle_rows({8192, 4096, 4096}, 1 << 20, 1);
    EXPECT_EQ(rows.size(), 256U);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    for (const std::int64_t row : {0, 7, 15, 16, 63, 64, 127, 128, 4095, 4096, 8127, 8128, 8184, 8191}) {
        EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), row)) << row;
    }
    EXPECT_EQ(oracle_rows({100, 1 << 22, 1 << 22}, 1 << 20, 1), std::vector<std::int64_t>{99}) << "at least one row";
}

}  // namespace
}  // namespace normtune
