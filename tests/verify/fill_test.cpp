#include "verify/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "problem/elements.h"
#include "verify/bounds.h"

namespace normtune {
namespace {

std::vector<float> draw_x(const Problem& problem, std::uint64_t seed) {
    const Tensor x = tensors(problem).front();
    const std::vector<std::byte> bytes = draw_input(problem, x, seed);
    std::vector<float> values(static_cast<std::size_t>(x.span()));
    decode(x.dtype, bytes.data(), 0, std::span(values));
    return values;
}

TEST(Fill, PlainRowsAreNearNormal) {
    const Problem problem = parse_problem_key("rms_norm/forward/fp32/llama/400x1000");
    const std::vector<float> values = draw_x(problem, 7);
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (std::int64_t row = 0; row < 400; ++row) {
        if (row_kind(problem, row, 7) == RowKind::plain) {
            for (std::size_t j = 0; j < 1000; ++j) {
                const auto v = static_cast<double>(values[static_cast<std::size_t>(row) * 1000 + j]);
                sum += v;
                squares += v * v;
                ++count;
            }
        }
    }
    EXPECT_GT(count, 300e3);
    EXPECT_NEAR(sum / count, 0, 0.01);
    EXPECT_NEAR(squares / count, 1, 0.01);
}

TEST(Fill, AFewRowsHaveEveryKindAndTheLastRowsLastColumnSpikes) {
    const Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/5x4096");
    std::set<RowKind> kinds;
    for (std::int64_t row = 0; row < 5; ++row) {
        kinds.insert(row_kind(problem, row, 1));
    }
    EXPECT_EQ(kinds, (std::set{RowKind::tiny, RowKind::large, RowKind::zeros, RowKind::aligned, RowKind::spike}));
    const std::vector<float> values = draw_x(problem, 1);
    EXPECT_EQ(values.back(), 32.0f);
    EXPECT_EQ(values[2 * 4096 + 5], 0.0f);
}

TEST(Fill, DrawsOfFewRowsAreTogetherThoseOfMore) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 7}) {
        Problem problem = parse_problem_key("fused_add_rms_norm/backward/bf16/llama/8x256");
        problem.shape.rows = rows;
        const int draws = draws_of(problem);
        EXPECT_GE(draws * rows, 8);
        EXPECT_LT((draws - 1) * rows, 8);
        Problem all = problem;
        all.shape.rows *= draws;
        std::set<RowKind> kinds;
        for (std::int64_t row = 0; row < rows; ++row) {  // whatever the seed, so that nothing at a place hides behind zeros
            for (std::uint64_t seed = 0; seed < 200; ++seed) {
                int plain = 0;
                for (int i = 0; i < draws; ++i) {
                    const RowKind kind = row_kind(problem, row, seed, {i, draws});
                    plain += kind == RowKind::plain || kind == RowKind::spike ? 1 : 0;
                }
                EXPECT_GE(plain, 1) << row << " of " << rows;
            }
        }
        for (std::uint64_t seed = 0; seed < 200; ++seed) {  // the drawn rows are of the kinds that row_kind() says
            for (int i = 0; i < draws; ++i) {
                const std::vector<std::byte> x = draw_input(problem, tensor_of(problem, TensorRole::x), seed, {i, draws});
                for (std::int64_t row = 0; row < rows; ++row) {
                    std::vector<float> values(256);
                    decode(problem.operation.dtype, x.data(), row * 256, std::span(values));
                    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / 256;
                    const RowKind kind = row_kind(problem, row, seed, {i, draws});
                    EXPECT_EQ(squares > 0.5 && squares < 4, kind != RowKind::zeros && kind != RowKind::tiny && kind != RowKind::large)
                        << row << " of " << rows << ", draw " << i << ", seed " << seed << ", mean square " << squares;
                }
            }
        }
        for (const TensorRole role : {TensorRole::x, TensorRole::dy, TensorRole::gamma}) {
            const std::vector<std::byte> of_all = draw_input(all, tensor_of(all, role), 3);
            for (int i = 0; i < draws; ++i) {
                const std::vector<std::byte> drawn = draw_input(problem, tensor_of(problem, role), 3, {i, draws});
                const std::size_t row_bytes = drawn.size() / static_cast<std::size_t>(role == TensorRole::gamma ? 1 : rows);
                for (std::int64_t row = 0; row < rows; ++row) {
                    const std::int64_t among_all = role == TensorRole::gamma ? 0 : i * rows + row;
                    kinds.insert(row_kind(problem, row, 3, {i, draws}));
                    if (row_kind(problem, row, 3, {i, draws}) == row_kind(all, i * rows + row, 3)) {
                        EXPECT_TRUE(
                            std::equal(drawn.begin() + (role == TensorRole::gamma ? 0 : row) * static_cast<std::ptrdiff_t>(row_bytes),
                                       drawn.begin() + ((role == TensorRole::gamma ? 0 : row) + 1) * static_cast<std::ptrdiff_t>(row_bytes),
                                       of_all.begin() + among_all * static_cast<std::ptrdiff_t>(row_bytes)))
                            << row << " of " << rows << ", draw " << i;
                    }
                }
            }
        }
        EXPECT_EQ(kinds.size(), 6U) << rows << " rows";
    }
    EXPECT_EQ(draws_of(parse_problem_key("rms_norm/forward/bf16/llama/8x256")), 1);
    EXPECT_EQ(draws_of(parse_problem_key("rms_norm/forward/bf16/llama/8192x256")), 1);
}

TEST(Fill, AlignedRowsHaveTheGradientOfTheProjection) {
    const Problem problem = parse_problem_key("rms_norm/backward/bf16/llama/200x64");
    int aligned = 0;
    const std::vector<std::byte> x = draw_input(problem, tensor_of(problem, TensorRole::x), 1);
    const std::vector<std::byte> dy = draw_input(problem, tensor_of(problem, TensorRole::dy), 1);
    for (std::int64_t row = 0; row < 200; ++row) {
        std::vector<float> a(64);
        std::vector<float> b(64);
        decode(Dtype::bf16, x.data(), row * 64, std::span(a));
        decode(Dtype::bf16, dy.data(), row * 64, std::span(b));
        const bool is_aligned = row_kind(problem, row, 1) == RowKind::aligned;
        EXPECT_EQ(std::fabs(a[5]) == std::fabs(b[5]) && std::fabs(a[6]) == std::fabs(b[6]), is_aligned) << row;
        aligned += is_aligned ? 1 : 0;
    }
    EXPECT_GT(aligned, 1);
}

TEST(Fill, WideAlignedRowsHaveFewValuesAtTheSameColumnsOfAllTheyAreSummedFrom) {
    const Problem problem = parse_problem_key("fused_add_rms_norm/full/bf16/llama/5x131072");
    std::vector<std::vector<float>> drawn;
    for (const TensorRole role : {TensorRole::x, TensorRole::residual, TensorRole::dy}) {
        const std::vector<std::byte> bytes = draw_input(problem, tensor_of(problem, role), 1);
        for (const std::int64_t row : {3, 4}) {
            std::vector<float> values(131072);
            decode(Dtype::bf16, bytes.data(), row * 131072, std::span(values));
            drawn.push_back(values);
        }
    }
    const auto values = [&](std::size_t i) { return 131072 - std::count(drawn[i].begin(), drawn[i].end(), 0.0F); };
    EXPECT_NEAR(static_cast<double>(values(0)), static_cast<double>(telling_values(131072)), 120);
    EXPECT_NEAR(static_cast<double>(values(2)), static_cast<double>(values(0)), 3) << "zeros are drawn elsewhere, too";
    for (std::size_t j = 0; j < 131072; ++j) {
        EXPECT_EQ(std::fabs(drawn[0][j]), std::fabs(drawn[4][j]));
        EXPECT_TRUE(drawn[0][j] != 0 || drawn[2][j] == 0) << j;
    }
    EXPECT_GT(values(1), 130000);
}

TEST(Fill, SeedRepeatsAndRowsDoNot) {
    const Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/64x64");
    EXPECT_EQ(draw_x(problem, 1), draw_x(problem, 1));
    EXPECT_NE(draw_x(problem, 1), draw_x(problem, 2));
    const std::vector<float> values = draw_x(problem, 1);
    EXPECT_FALSE(std::equal(values.begin() + 64 * 10, values.begin() + 64 * 11, values.begin() + 64 * 11));
}

TEST(Fill, GapsAndOutputsHoldThePoisonWhichIsASignallingNan) {
    const Problem problem = parse_problem_key("rms_norm/forward/fp16/llama/3x8/stride11");
    const std::vector<float> values = draw_x(problem, 1);
    EXPECT_TRUE(std::isnan(values[8]) && std::isnan(values[10]) && std::isnan(values[11 + 9]));
    EXPECT_FALSE(std::isnan(values[11]));
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
        std::vector<std::byte> bytes(6 * static_cast<std::size_t>(bytes_of(dtype)));
        poison(dtype, bytes);
        std::vector<float> decoded(6);
        decode(dtype, bytes.data(), 0, std::span(decoded));
        for (float v : decoded) {
            EXPECT_TRUE(std::isnan(v));
        }
        const std::uint32_t quiet = dtype == Dtype::fp32 ? 0x400000 : dtype == Dtype::bf16 ? 0x40 : 0x200;
        EXPECT_EQ(row_of(dtype).poison & quiet, 0U);
    }
}

TEST(Fill, SquaresStayFiniteInFp16WhereTheCastingSquaresInIt) {
    const std::vector<float> values = draw_x(parse_problem_key("rms_norm/forward/fp16/none/200x100"), 3);
    ASSERT_EQ(values.size(), 200U * 100U);
    for (float v : values) {
        EXPECT_LT(v * v, 65504.0f);
    }
}

}  // namespace
}  // namespace normtune
