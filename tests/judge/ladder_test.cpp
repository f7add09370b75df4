#include "judge/ladder.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "judge/synthetic_records.h"

namespace normtune {
namespace {

using testing::add;
using testing::problem_of;

/// Losses by hand: prescription p is num_warps 1, 2, 4, ….
struct Hand {
    std::int64_t rows;
    std::int64_t cols;
    std::vector<double> losses;
};

Losses by_hand(const std::vector<Hand>& shapes) {
    Losses out;
    out.decided = {Axis::num_warps};
    for (std::size_t p = 0; p < shapes.front().losses.size(); ++p) {
        Prescription prescription;
        prescription.configuration.num_warps = 1 << p;
        out.prescriptions.push_back(prescription);
    }
    for (const Hand& shape : shapes) {
        out.shapes.push_back({shape.rows, shape.cols, {}, shape.losses, std::vector<double>(shape.losses.size())});
    }
    return out;
}

constexpr double unmeasured = not_measured;

TEST(Ladder, OneStepServesAllWhereOneCan) {
    const Losses losses = by_hand({{1, 128, {0, 0.01}}, {1, 256, {0.03, 0.01}}, {1, 512, {0, 0.02}}});
    const Ladder ladder = fit_ladder(losses, 0.02).value();
    EXPECT_EQ(ladder.steps(), 1u);
    EXPECT_EQ(ladder.prescription(1, 256), 1u);
    EXPECT_EQ(ladder.prescription(77, 1), 1u);
    EXPECT_EQ(ladder.prescription(77, 1 << 20), 1u);  // beyond the largest N the last step holds
}

TEST(Ladder, OfLaddersWithTheFewestStepsTheLeastMeanLossIsTaken) {
    const Losses losses = by_hand({{1, 128, {0, 0.01}}, {1, 256, {0.01, 0.01}}, {1, 512, {0.5, 0}}});
    const Ladder ladder = fit_ladder(losses, 0.02).value();
    EXPECT_EQ(ladder.steps(), 1u);
    const Losses split = by_hand({{1, 128, {0, 0.3}}, {1, 256, {0.02, 0}}, {1, 512, {0.5, 0}}});
    const Ladder two = fit_ladder(split, 0.02).value();
    EXPECT_EQ(two.steps(), 2u);
    EXPECT_EQ(two.bands[0].cols_to, 128);  // 256 loses 2% in the first step and nothing in the second
}

TEST(Ladder, RowsSplitABandWhereThatTakesFewerSteps) {
    // Few rows want one configuration at every N, many rows another: two steps over M, four over N alone cannot do it.
    const Losses losses = by_hand({{1, 128, {0, 0.5}}, {8192, 128, {0.5, 0}}, {1, 256, {0, 0.5}}, {8192, 256, {0.5, 0}}});
    const Ladder ladder = fit_ladder(losses, 0.02).value();
    ASSERT_EQ(ladder.bands.size(), 1u);
    ASSERT_EQ(ladder.bands[0].steps.size(), 2u);
    EXPECT_EQ(ladder.bands[0].steps[0].rows_to, 1);
    EXPECT_EQ(ladder.prescription(1, 200), 0u);
    EXPECT_EQ(ladder.prescription(2, 200), 1u);
}

TEST(Ladder, AStepWasMeasuredOnEveryShapeThatItServes) {
    const Losses losses = by_hand({{1, 128, {0, 0.01}}, {1, 256, {unmeasured, 0.01}}, {1, 512, {0, unmeasured}}});
    const Ladder ladder = fit_ladder(losses, 0.02).value();
    EXPECT_EQ(ladder.steps(), 2u);
    for (const ShapeLosses& shape : losses.shapes) {
        EXPECT_NE(shape.losses[ladder.prescription(shape.rows, shape.cols)], not_measured);
    }
}

TEST(Ladder, NoneWhereAShapeHasNothingWithinTheTolerance) {
    const Losses losses = by_hand({{1, 128, {0.05, 0.04}}, {1, 256, {0, 0.5}}});
    EXPECT_FALSE(fit_ladder(losses, 0.02));
    EXPECT_DOUBLE_EQ(least_tolerance(losses, 0).value(), 0.04);
    EXPECT_DOUBLE_EQ(least_tolerance(losses, 1).value(), 0.05);
    EXPECT_FALSE(least_tolerance(by_hand({{1, 128, {unmeasured, unmeasured}}}), 0));
}

/// The fewest cells of bands of N cut over M, by trying every partition.
std::size_t fewest_by_search(const Losses& losses, double tolerance) {
    std::vector<std::int64_t> cols;
    std::vector<std::int64_t> rows;
    for (const ShapeLosses& shape : losses.shapes) {
        cols.push_back(shape.cols);
        rows.push_back(shape.rows);
    }
    const auto distinct = [](std::vector<std::int64_t>& values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
    };
    distinct(cols);
    distinct(rows);
    const auto served = [&](std::int64_t c0, std::int64_t c1, std::int64_t r0, std::int64_t r1) {
        for (std::size_t p = 0; p < losses.prescriptions.size(); ++p) {
            if (std::all_of(losses.shapes.begin(), losses.shapes.end(), [&](const ShapeLosses& s) {
                    const bool inside = s.cols >= c0 && s.cols <= c1 && s.rows >= r0 && s.rows <= r1;
                    return !inside || (s.losses[p] != not_measured && s.losses[p] <= tolerance);
                })) {
                return true;
            }
        }
        return false;
    };
    constexpr std::size_t impossible = 1000;
    const auto over_rows = [&](std::int64_t c0, std::int64_t c1) {
        std::vector<std::int64_t> inside;
        for (const ShapeLosses& s : losses.shapes) {
            if (s.cols >= c0 && s.cols <= c1) {
                inside.push_back(s.rows);
            }
        }
        distinct(inside);
        std::size_t least = impossible;
        for (unsigned cuts = 0; cuts < 1U << (inside.size() - 1); ++cuts) {
            std::size_t cells = 0;
            std::size_t first = 0;
            for (std::size_t i = 0; i < inside.size() && cells < impossible; ++i) {
                if (i + 1 == inside.size() || ((cuts >> i) & 1U) != 0) {
                    cells = served(c0, c1, inside[first], inside[i]) ? cells + 1 : impossible;
                    first = i + 1;
                }
            }
            least = std::min(least, cells);
        }
        return least;
    };
    std::size_t least = impossible;
    for (unsigned cuts = 0; cuts < 1U << (cols.size() - 1); ++cuts) {
        std::size_t cells = 0;
        std::size_t first = 0;
        for (std::size_t i = 0; i < cols.size(); ++i) {
            if (i + 1 == cols.size() || ((cuts >> i) & 1U) != 0) {
                cells += over_rows(cols[first], cols[i]);
                first = i + 1;
            }
        }
        least = std::min(least, cells);
    }
    return least;
}

TEST(Ladder, HasAsFewStepsAsTryingEveryPartition) {
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same cases every time
    std::uniform_int_distribution<int> value(0, 9);
    for (int round = 0; round < 40; ++round) {
        std::vector<Hand> shapes;
        for (std::int64_t cols = 1; cols <= 5; ++cols) {
            for (std::int64_t rows = 1; rows <= 4; ++rows) {
                Hand shape{rows, cols, {}};
                for (int p = 0; p < 5; ++p) {
                    const int drawn = value(random);
                    shape.losses.push_back(drawn == 9 ? unmeasured : drawn < 6 ? 0.01 * drawn / 6 : 0.5);
                }
                shapes.push_back(shape);
            }
        }
        const Losses losses = by_hand(shapes);
        const std::optional<Ladder> ladder = fit_ladder(losses, 0.02);
        const std::size_t fewest = fewest_by_search(losses, 0.02);
        if (!ladder) {
            EXPECT_GE(fewest, 1000u) << round;
            continue;
        }
        EXPECT_EQ(ladder->steps(), fewest) << round;
        for (const ShapeLosses& shape : losses.shapes) {
            const double loss = shape.losses[ladder->prescription(shape.rows, shape.cols)];
            EXPECT_TRUE(loss != not_measured && loss <= 0.02) << round;
        }
    }
}

std::vector<const ProblemRanking*> pointers(const std::vector<ProblemRanking>& rankings) {
    std::vector<const ProblemRanking*> out;
    for (const ProblemRanking& ranking : rankings) {
        out.push_back(&ranking);
    }
    return out;
}

/// Whether a configuration's key with `even_or_` is among the prescriptions, and its loss at the i-th shape.
std::optional<double> loss_of(const Losses& losses, const std::string& text, std::size_t shape) {
    for (std::size_t p = 0; p < losses.prescriptions.size(); ++p) {
        if (losses.prescriptions[p].text(losses.decided) == text) {
            return losses.shapes[shape].losses[p];
        }
    }
    return std::nullopt;
}

TEST(Losses, AStepIsEvenWhereThatDividesAndMasksElsewhere) {
    Results results;
    // 128 threads of 8 bf16 take 1024 columns at once: that divides 4096 and not 5120 + 8.
    add(results, problem_of(8, 4096), {{"w4.t128.r1.row.registers.even.per_row", 10}, {"w4.t128.r1.row.registers.masked.per_row", 12}});
    add(results, problem_of(8, 5128), {{"w4.t128.r1.row.registers.masked.per_row", 11}});
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const Losses losses = losses_of(pointers(rankings), all_axes(), backend_traits(Backend::cuda));
    EXPECT_EQ(loss_of(losses, "w4.t128.r1.row.registers.even_or_masked.per_row", 0), 0.0);
    EXPECT_EQ(loss_of(losses, "w4.t128.r1.row.registers.even_or_masked.per_row", 1), 0.0);
    EXPECT_NEAR(loss_of(losses, "w4.t128.r1.row.registers.masked.per_row", 0).value(), 0.2, 1e-12);
    EXPECT_EQ(loss_of(losses, "w4.t128.r1.row.registers.even_or_guard.per_row", 1), not_measured);
    EXPECT_EQ(loss_of(losses, "w4.t128.r1.row.registers.even.per_row", 0), std::nullopt);  // no step: it may be illegal
    EXPECT_EQ(fit_ladder(losses, 0).value().steps(), 1u);
}

TEST(Losses, WhatIsNotDecidedIsAtItsBestOnEachShape) {
    Results results;
    add(results, problem_of(8, 128),
        {{"w1.t32.r1.row.registers.masked.per_row", 12},
         {"w1.t16.r2.row.registers.masked.packed", 10},
         {"w2.t32.r2.row.registers.masked.packed", 11}});
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const Losses losses = losses_of(pointers(rankings), {Axis::num_warps}, backend_traits(Backend::cuda));
    ASSERT_EQ(losses.prescriptions.size(), 2u);
    EXPECT_EQ(loss_of(losses, "num_warps 1", 0), 0.0);
    EXPECT_NEAR(loss_of(losses, "num_warps 2", 0).value(), 0.1, 1e-12);
}

TEST(Losses, OneThatIsFasterThanTheWinnerIsBelowZero) {
    Results results;
    add(results, problem_of(8, 128), {{"w1.t32.r1.row.registers.masked.per_row", 10}, {"w2.t64.r1.row.registers.masked.per_row", 10.1}});
    std::swap(results.records[0].measurement->rank, results.records[1].measurement->rank);  // the finals decided otherwise
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const Losses losses = losses_of(pointers(rankings), {Axis::num_warps}, backend_traits(Backend::cuda));
    EXPECT_NEAR(loss_of(losses, "num_warps 1", 0).value(), 10 / 10.1 - 1, 1e-12);
    EXPECT_EQ(loss_of(losses, "num_warps 2", 0), 0.0);
}

TEST(Losses, ProblemsOfOneShapeAreServedTogether) {
    Results results;
    Problem strided = problem_of(8, 128);
    strided.shape.row_stride = 192;
    add(results, problem_of(8, 128), {{"w1.t32.r1.row.registers.masked.per_row", 10}, {"w2.t64.r1.row.registers.masked.per_row", 11}});
    add(results, strided, {{"w1.t32.r1.row.registers.masked.per_row", 14}, {"w2.t64.r1.row.registers.masked.per_row", 10}});
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const Losses losses = losses_of(pointers(rankings), {Axis::num_warps}, backend_traits(Backend::cuda));
    ASSERT_EQ(losses.shapes.size(), 1u);
    EXPECT_NEAR(loss_of(losses, "num_warps 1", 0).value(), 0.4, 1e-12);
    EXPECT_NEAR(loss_of(losses, "num_warps 2", 0).value(), 0.1, 1e-12);
}

}  // namespace
}  // namespace normtune
