#include "verify/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/float_formats.h"
#include "support/sanitized.h"
#include "verify/fill.h"

namespace normtune {
namespace {

std::vector<std::byte> bytes_of_values(Dtype dtype, const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(dtype)));
    encode(dtype, values, 0, bytes.data());
    return bytes;
}

OutputSummary summary_of(TensorRole role, const std::vector<OutputSummary>& summaries) {
    for (const OutputSummary& summary : summaries) {
        if (summary.role == role) {
            return summary;
        }
    }
    return {};
}

/// What y should be before its last rounding: of a problem with one value, from a y that is far off.
double expected_y(const Problem& problem, HostTensors inputs, float stored_rstd) {
    const RoundingContract contract = problem.operation.contract();
    const OracleSums sums = oracle_sums(problem, contract, inputs);
    HostTensors outputs{{TensorRole::rstd, bytes_of_values(Dtype::fp32, {stored_rstd})},
                        {TensorRole::y, bytes_of_values(problem.operation.dtype, {1000})}};
    return summary_of(TensorRole::y, compare_outputs(problem, contract, inputs, sums, outputs)).expected;
}

TEST(Oracle, ForwardByHand) {
    Problem problem = parse_problem_key("rms_norm/forward/fp32/gemma/2x2/offset1");
    problem.operation.eps = 0.5;
    HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::fp32, {3, 4, 0, 0})},
                       {TensorRole::gamma, bytes_of_values(Dtype::fp32, {1, -0.5})}};
    const OracleSums sums = oracle_sums(problem, {}, inputs);
    const auto rstd = static_cast<float>(1 / std::sqrt(12.5 + 0.5));
    EXPECT_DOUBLE_EQ(sums.rstd[0], 1 / std::sqrt(12.5 + 0.5));
    EXPECT_DOUBLE_EQ(sums.rstd[1], 1 / std::sqrt(0.5));
    HostTensors outputs{{TensorRole::rstd, bytes_of_values(Dtype::fp32, {rstd, static_cast<float>(1 / std::sqrt(0.5))})},
                        {TensorRole::y, bytes_of_values(Dtype::fp32, {3 * rstd * 2, 4 * rstd * 0.5F, 0, 0})}};
    for (const OutputSummary& summary : compare_outputs(problem, {}, inputs, sums, outputs)) {
        EXPECT_LT(summary.over, 1) << tensor_names.name(summary.role);
    }
    outputs[TensorRole::y] = bytes_of_values(Dtype::fp32, {3 * rstd * 2, 4 * rstd * 0.5F, 0, 1});
    const OutputSummary wrong = summary_of(TensorRole::y, compare_outputs(problem, {}, inputs, sums, outputs));
    EXPECT_GT(wrong.over, 1);
    EXPECT_EQ(wrong.place, 3);
    EXPECT_EQ(wrong.beyond, 1);
    EXPECT_EQ(wrong.got, 1);
    EXPECT_EQ(wrong.expected, 0);
}

TEST(Oracle, RoundingPointsTellTheCastingsApart) {
    // One element: n = x·rstd = 1/√(1 + 2⁻²) with x = 1, eps = ¼: 0.894427…, which bf16 holds as 0.89453125.
    const auto rstd = static_cast<float>(1 / std::sqrt(1.25));
    const auto y_of = [&](const char* key) {
        Problem problem = parse_problem_key(key);
        problem.operation.eps = 0.25;
        return expected_y(
            problem, {{TensorRole::x, bytes_of_values(Dtype::bf16, {1})}, {TensorRole::gamma, bytes_of_values(Dtype::bf16, {1.4296875})}},
            rstd);
    };
    EXPECT_EQ(y_of("rms_norm/forward/bf16/llama/1x1"), 0.89453125 * 1.4296875);
    EXPECT_EQ(y_of("rms_norm/forward/bf16/gemma/1x1"), static_cast<double>(rstd) * 1.4296875);
    EXPECT_EQ(y_of("rms_norm/forward/bf16/none/1x1"), 0.89453125 * 1.4296875);
}

TEST(Oracle, FusedAddNormalisesTheRoundedSumOrTheWideOne) {
    const auto rstd_of = [](const char* key) {
        const Problem problem = parse_problem_key(key);
        HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::bf16, {1, 1})},
                           {TensorRole::residual, bytes_of_values(Dtype::bf16, {0x1.cp-8f, 1})}};
        return oracle_sums(problem, problem.operation.contract(), inputs).rstd[0];
    };
    const double wide = 1 + 0x1.cp-8;
    const double rounded = 1 + 0x1p-7;
    EXPECT_DOUBLE_EQ(rstd_of("fused_add_rms_norm/forward/bf16/gemma/1x2/weightless/residual_fp32"),
                     1 / std::sqrt((wide * wide + 4) / 2 + 1e-6));
    EXPECT_DOUBLE_EQ(rstd_of("fused_add_rms_norm/forward/bf16/gemma/1x2/weightless"), 1 / std::sqrt((rounded * rounded + 4) / 2 + 1e-6));
}

TEST(Oracle, WhatIsStoredIsJudgedByTheErrorBeforeItsLastRounding) {
    // 1.5·2⁻⁸ lies between bf16's neighbours of 1 + 2⁻⁷: correctly rounded it is at no distance, one step away it is.
    const Problem problem = parse_problem_key("fused_add_rms_norm/forward/bf16/gemma/1x1/weightless");
    HostTensors inputs{{TensorRole::x, bytes_of_values(Dtype::bf16, {1})},
                       {TensorRole::residual, bytes_of_values(Dtype::bf16, {0x1.8p-8f})}};
    const OracleSums sums = oracle_sums(problem, {}, inputs);
    const auto s_of = [&](float s) {
        const HostTensors outputs{{TensorRole::y, bytes_of_values(Dtype::bf16, {1})},
                                  {TensorRole::s, bytes_of_values(Dtype::bf16, {s})},
                                  {TensorRole::rstd, bytes_of_values(Dtype::fp32, {1})}};
        return summary_of(TensorRole::s, compare_outputs(problem, {}, inputs, sums, outputs));
    };
    EXPECT_EQ(s_of(1 + 0x1p-7f).over, 0);
    EXPECT_EQ(s_of(1 + 0x1p-6f).beyond, 1);
    EXPECT_EQ(s_of(1).beyond, 1);
    EXPECT_EQ(s_of(std::nanf("")).not_finite, 1);
    EXPECT_EQ(s_of(std::nanf("")).unwritten, 0);
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

/// The outputs' errors over their bounds where rstd's mean and the projection's are divided by N + `more`.
std::vector<OutputSummary> with_divisor_off_by(int more, const Problem& problem) {
    const RoundingContract contract = problem.operation.contract();
    HostTensors inputs;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access != Access::out && tensor.kind != TensorKind::statistic) {
            inputs[tensor.role] = draw_input(problem, tensor, 7);
        }
    }
    const OracleSums sums = oracle_sums(problem, contract, inputs);
    OracleSums wrong = sums;
    const auto n = static_cast<double>(problem.shape.cols);
    for (std::size_t i = 0; i < sums.rstd.size(); ++i) {
        const double mean = (1 / (sums.rstd[i] * sums.rstd[i]) - problem.operation.eps) * n / (n + more);
        wrong.rstd[i] = 1 / std::sqrt(mean + problem.operation.eps);
        wrong.projection[i] *= n / (n + more);
    }
    if (problem.operation.mode == Mode::full) {
        wrong.projection = sums.projection;  // judged by its own
    }
    return compare_outputs(problem, contract, inputs, sums, right_outputs(problem, contract, inputs, wrong));
}

// rstd's bound of a whole row of so many values is wider than what they move.
TEST(Oracle, ADivisorOfNPlusOrMinusOneShowsInRowsOfFewValues) {
    NORMTUNE_NOT_SANITIZED("the widest rows");
    for (const char* shape : {"8x17389", "8x32768", "8x131072", "6x262144"}) {
        for (const char* op : {"rms_norm/full/bf16/llama/", "fused_add_rms_norm/full/bf16/llama/"}) {
            const Problem problem = parse_problem_key(std::string(op) + shape);
            EXPECT_LE(summary_of(TensorRole::rstd, with_divisor_off_by(0, problem)).over, 1) << problem.key();
            EXPECT_GT(summary_of(TensorRole::rstd, with_divisor_off_by(1, problem)).over, 1.5) << problem.key();
            EXPECT_GT(summary_of(TensorRole::rstd, with_divisor_off_by(-1, problem)).over, 1.5) << problem.key();
        }
    }
    for (const char* key :
         {"rms_norm/backward/bf16/llama/8x17389", "rms_norm/backward/bf16/llama/8x32768", "rms_norm/backward/fp32/llama/6x262144"}) {
        const Problem problem = parse_problem_key(key);
        EXPECT_LE(summary_of(TensorRole::dx, with_divisor_off_by(0, problem)).over, 1) << key;
        // rstd is what the backward reads, so that the projection's divisor alone is off
        EXPECT_GT(summary_of(TensorRole::dx, with_divisor_off_by(1, problem)).over, 1) << key;
        EXPECT_GT(summary_of(TensorRole::dx, with_divisor_off_by(-1, problem)).over, 1) << key;
    }
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
    const OracleSums sums = oracle_sums(problem, {}, inputs);
    const std::vector<double> wide_x(x.begin(), x.end());
    const std::vector<double> wide_gamma(gamma.begin(), gamma.end());
    const std::vector<double> wide_dy(dy.begin(), dy.end());
    constexpr double step = 1e-5;
    std::vector<float> dx;
    for (std::size_t j = 0; j < x.size(); ++j) {
        std::vector<double> up = wide_x;
        std::vector<double> down = wide_x;
        up[j] += step;
        down[j] -= step;
        const double slope = (loss(up, wide_gamma, wide_dy, 1e-6) - loss(down, wide_gamma, wide_dy, 1e-6)) / (2 * step);
        dx.push_back(static_cast<float>(slope + static_cast<double>(ds[j])));
        up = down = wide_gamma;
        up[j] += step;
        down[j] -= step;
        const double gamma_slope = (loss(wide_x, up, wide_dy, 1e-6) - loss(wide_x, down, wide_dy, 1e-6)) / (2 * step);
        EXPECT_NEAR(sums.dgamma[j], gamma_slope, 3e-7);
    }
    HostTensors outputs;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access == Access::out) {
            outputs[tensor.role].resize(static_cast<std::size_t>(tensor.span_bytes()));
        }
    }
    outputs[TensorRole::rstd] = bytes_of_values(Dtype::fp32, {static_cast<float>(sums.rstd[0])});
    const auto compared = [&](const std::vector<float>& values) {
        outputs[TensorRole::dx] = bytes_of_values(Dtype::fp32, values);
        return summary_of(TensorRole::dx, compare_outputs(problem, {}, inputs, sums, outputs));
    };
    EXPECT_LE(compared(dx).over, 1);
    dx[3] += 1e-5F;
    EXPECT_EQ(compared(dx).beyond, 1);
    EXPECT_EQ(compared(dx).place, 3);
}

}  // namespace
}  // namespace normtune
