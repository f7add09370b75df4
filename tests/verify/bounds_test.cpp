#include "verify/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace normtune {
namespace {

Bounds bounds(const char* key) {
    const Problem problem = parse_problem_key(key);
    return bounds_of(problem, problem.operation.contract());
}

TEST(Bounds, OfRstdGrowWithTheRowAndSeeOneMissingColumn) {
    const SumBound rstd = bounds("rms_norm/forward/bf16/llama/8x128").rstd;
    EXPECT_LT(rstd.of(128), 1e-6);
    // Half of a spike's share, and half of what N ± 1 makes of the mean.
    for (const std::int64_t cols : {4096, 17389}) {
        EXPECT_LT(rstd.of(cols), 0.5 / static_cast<double>(cols)) << cols;
    }
    EXPECT_LT(rstd.of(131072), 1e-4);
}

TEST(Bounds, OfRowsWithFewValuesAreHalfOfWhatNPlusOneMoves) {
    const Bounds of = bounds("rms_norm/backward/bf16/llama/8x128");
    for (const std::int64_t cols : {17389, 32768, 65536, 131072, 262144}) {
        const std::int64_t values = telling_values(cols);
        const double moved = 0.5 / static_cast<double>(cols);
        EXPECT_LT(values, cols);
        EXPECT_LE(of.rstd.of(values), 0.5 * moved) << cols;
        EXPECT_GT(of.rstd.of(values + 2), 0.5 * moved) << "as many as there may be: " << cols;
        EXPECT_LT(of.row_sum.of(values), 1.1 * moved) << cols << ": c moves by twice as much as rstd";
    }
    for (const std::int64_t cols : {1, 63, 128, 12288, 17275}) {
        EXPECT_EQ(telling_values(cols), cols);
    }
    EXPECT_LT(telling_values(17276), 17276) << "as docs/semantics.md says";
    EXPECT_EQ(telling_values(std::int64_t{1} << 22), 64);
}

TEST(Bounds, OfTheProjectionSeeNPlusOneWhereDyIsAligned) {
    for (const std::int64_t cols : {128, 1024, 4096, 8192, 16384, 17389}) {
        const Problem problem{{64, cols, cols}, parse_problem_key("rms_norm/backward/bf16/llama/8x8").operation, {}};
        EXPECT_LT(bounds_of(problem, {}).row_sum.of(cols), 0.75 / static_cast<double>(cols)) << cols;
    }
}

TEST(Bounds, OfDgammaAreFarBelowASumInBf16) {
    for (const std::int64_t rows : {256, 8192, 32768, 65536}) {
        const Problem problem{{rows, 128, 128}, parse_problem_key("rms_norm/backward/bf16/llama/8x8").operation, {}};
        // A partial sum rounded to bf16 errs by 2⁻⁸/√3 of itself, all of a column's together by that of √M terms.
        EXPECT_LT(10 * bounds_of(problem, {}).column_terms, 0x1p-8 / 1.8 * std::sqrt(static_cast<double>(rows))) << rows;
    }
}

// What random signs add up to has the bound that it had; a column of one sign, of M terms of size 1, that of one accumulator's roundings.
TEST(Bounds, OfDgammaHoldForSumsOfOneSignInOneAccumulator) {
    for (const std::int64_t rows : {256, 4096, 65536}) {
        const Problem problem{{rows, 128, 128}, parse_problem_key("rms_norm/backward/bf16/llama/8x8").operation, {}};
        const Bounds bounds = bounds_of(problem, {});
        const auto m = static_cast<double>(rows);
        const auto allowed = [&](double sum) {
            return bounds.column_terms + bounds.column_sum * std::max(0.0, std::abs(sum) - bounds.column_walk);
        };
        EXPECT_EQ(allowed(3 * std::sqrt(m)), bounds.column_terms);
        float sum = 0;
        double exact = 0;
        double worst = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const float term = 0.5F + static_cast<float>((i * 7919) % 1009) / 1009;
            sum += term;
            exact += term;
            worst = std::max(worst, std::abs(static_cast<double>(sum) - exact) / allowed(exact));
        }
        EXPECT_LT(worst, 1) << rows;
        EXPECT_LT(allowed(m), 16 * 0x1p-8 / 1.8 * std::sqrt(m / 16)) << "partial sums of sixteen rows in bf16 show";
    }
}

TEST(Bounds, ADgammaOfTheKernelsOwnRstdMayMoveWithIt) {
    EXPECT_EQ(bounds("rms_norm/backward/bf16/llama/64x128").column_rstd, 0);
    EXPECT_GT(bounds("rms_norm/full/bf16/gemma/64x128").column_rstd, 0);
    EXPECT_EQ(bounds("rms_norm/full/bf16/gemma/64x128").column_tips, 0) << "nothing is rounded that could tip over";
    EXPECT_GT(bounds("rms_norm/full/bf16/llama/64x128").column_tips, 0);
}

}  // namespace
}  // namespace normtune
