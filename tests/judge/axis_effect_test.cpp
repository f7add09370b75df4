// What the values of an axis or a tunable cost, from records made up.
#include "judge/axis_effect.h"

#include <gtest/gtest.h>

#include <cmath>

#include "judge/synthetic_records.h"
#include "measure/ranking.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::add;
using testing::narrow;
using testing::problem_of;
using testing::wide;

std::vector<Results> made_up() {
    std::vector<Results> runs(1);
    add(runs[0], problem_of(64, 1024),
        {{"mine:k.B=128.W=2", 10},
         {"mine:k.B=64.W=2", 12},
         {"mine:k.B=1024.W=2", 30},
         {"mine:k.B=64.W=4", 11},
         {"w4.t128.r1.row.registers.masked.packed", 5},
         {"w8.t256.r1.row.registers.masked.packed", 6}});
    add(runs[0], problem_of(64, 2048), {{"mine:k.B=64.W=2", 20}, {"mine:k.B=128.W=2", 25}, {"other:k.B=64", 4}});
    return runs;
}

TEST(AxisEffect, OfATunableIsAgainstTheBestOfItsProvider) {
    const std::vector<Results> runs = made_up();
    const AxisEffect effect = axis_effect(runs, "B");
    ASSERT_EQ(effect.values.size(), 4U);  // of mine in the order of numbers, then of other
    const AxisValueEffect& small = effect.values[0];
    EXPECT_EQ(small.provider + ' ' + small.value, "mine 64");
    EXPECT_EQ(small.places, 2U);
    EXPECT_EQ(small.best_on, 1U);
    EXPECT_NEAR(small.worst, 0.1, 1e-9);  // 11 against 10, whatever else its candidates have
    EXPECT_EQ(*small.worst_on, problem_of(64, 1024).key());
    EXPECT_NEAR(small.mean, std::sqrt(1.1) - 1, 1e-9);
    EXPECT_EQ(effect.values[1].value, "128");
    EXPECT_NEAR(effect.values[1].worst, 0.25, 1e-9);
    EXPECT_EQ(effect.values[2].value, "1024");
    EXPECT_EQ(effect.values[2].places, 1U);
    EXPECT_NEAR(effect.values[2].worst, 2, 1e-9);
    EXPECT_EQ(effect.values[3].provider, "other");
    EXPECT_EQ(effect.values[3].worst, 0);
}

TEST(AxisEffect, OfAnOwnAxisSpeaksOfOwnConfigurations) {
    const std::vector<Results> runs = made_up();
    const AxisEffect effect = axis_effect(runs, "num_warps");
    ASSERT_EQ(effect.values.size(), 2U);
    EXPECT_EQ(effect.values[1].provider, "normtune");
    EXPECT_EQ(effect.values[1].value, "8");
    EXPECT_NEAR(effect.values[1].worst, 0.2, 1e-9);
}

TEST(AxisEffect, ALossHasAnIntervalAndThatOfTheBestItselfNone) {
    const std::vector<Results> runs = made_up();
    const std::vector<ProblemRanking> rankings = problem_rankings(runs, Whose::all);
    const auto half_log = [&](std::string_view key) {
        for (const Standing& standing : rankings[0].standings) {
            if (standing.record->candidate.key() == key) {
                return std::log(standing.high / standing.low) / 2;
            }
        }
        ADD_FAILURE() << key;
        return 0.0;
    };
    const AxisEffect warps = axis_effect(runs, "num_warps");
    EXPECT_EQ(warps.values[0].mean_half_width(), 0) << "the winner itself";
    EXPECT_GT(warps.values[1].mean_half_width(), 0);
    EXPECT_NEAR(warps.values[1].worst_half_width, 1.2 * half_log("w8.t256.r1.row.registers.masked.packed"), 1e-9);
    const AxisEffect effect = axis_effect(runs, "B");
    EXPECT_EQ(effect.values[3].worst_half_width, 0) << "the only one of its provider, whatever the winner";
    EXPECT_NEAR(effect.values[2].worst_half_width, 3 * std::hypot(half_log("k.B=1024.W=2"), half_log("k.B=128.W=2")), 1e-9)
        << "both are compared with the winner, another provider's";
}

TEST(AxisEffect, TheWinnerIsTheBestWhateverAnotherRatioSays) {
    std::vector<Results> runs = made_up();
    Record& winner = runs[0].records[4];  // w4, rank 1
    Record& tied = runs[0].records[5];
    winner.measurement->final_rounds_us = {5, 5.1, 5};
    tied.measurement->final_rounds_us = {4.9, 5, 4.95};
    const AxisEffect effect = axis_effect(runs, "num_warps");
    EXPECT_EQ(effect.values[0].value, "4");
    EXPECT_EQ(effect.values[0].best_on, 1U);
    EXPECT_EQ(effect.values[0].worst, 0);
    EXPECT_EQ(effect.values[1].best_on, 0U);
    EXPECT_LT(effect.values[1].mean, 0);
}

TEST(AxisEffect, TwoFinalistsArePairedWhoeverWon) {
    std::vector<Results> runs(1);
    add(runs[0], problem_of(64, 1024), {{"mine:k.B=64", 5}, {narrow, 10}, {wide, 11}});
    const std::vector<std::vector<double>> rounds{{5, 5.3, 4.9, 5.2}, {10, 10.1, 9.9, 10.05}, {11, 11.12, 10.88, 11.06}};
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        runs[0].records[i].measurement->final_rounds_us = rounds[i];
    }
    const AxisEffect effect = axis_effect(runs, "num_warps");
    ASSERT_EQ(effect.values.size(), 2U);
    EXPECT_NEAR(effect.values[1].worst, paired_ratio(rounds[2], rounds[1]) - 1, 1e-12);
    EXPECT_NEAR(effect.values[1].worst_half_width, (1 + effect.values[1].worst) * paired_half_width(rounds[2], rounds[1]), 1e-12)
        << "they move together, and the winner, which is another provider's, has no part in it";
}

TEST(AxisEffect, NothingMeasuredIsToldBeforeTheAxis) {
    const std::vector<Results> runs(1);
    try {
        axis_effect(runs, "num_warps");
        FAIL() << "was taken";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "nothing was measured in these results: there is no best to judge by");
    }
}

TEST(AxisEffect, AnUnknownAxisIsRefused) {
    const std::vector<Results> runs = made_up();
    try {
        axis_effect(runs, "num_warp");
        FAIL() << "was taken";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "nothing that was measured has an axis or a tunable 'num_warp'; did you mean 'num_warps'?");
    }
}

}  // namespace
}  // namespace normtune
