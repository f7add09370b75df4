// Several runs a side, and trials that a race dropped or that failed in one of them.
#include "judge/comparison.h"

#include <gtest/gtest.h>

#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::six_problems;
using testing::synthetic_results;
using testing::SyntheticSweep;

TEST(Processes, TellWhatRunsDifferBy) {
    std::vector<Results> before;
    std::vector<Results> after;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SyntheticSweep sweep = six_problems(2 * seed);
        sweep.run_deviation = 0.02;
        before.push_back(synthetic_results(sweep));
        sweep.seed = 2 * seed + 1;
        sweep.planted = [](int problem, int) { return problem == 3 ? 1.3 : 1.0; };
        after.push_back(synthetic_results(sweep));
    }
    const ResultRows a = rows_of_runs(before, "before");
    const ResultRows b = rows_of_runs(after, "after");
    const Comparison comparison = compare(a, b, {});
    ASSERT_EQ(comparison.pairs.size(), 30U);
    EXPECT_EQ(comparison.processes[0], 3U);
    EXPECT_EQ(comparison.pairs[0].evidence, Evidence::processes);
    EXPECT_EQ(comparison.count(Verdict::slower), 5U);
    EXPECT_NEAR(comparison.of_a_run, 0.028, 0.015);  // 2 % of a trial, 2 % of the device
    EXPECT_GT(comparison.runs_to_find(0.05), comparison.runs_to_find(0.1));
    EXPECT_EQ(comparison.runs_to_find(0.005), 0);  // more than 99
    const ResultRows one = rows_of(before[0], "before");
    EXPECT_EQ(compare(one, b, {}).processes[1], 3U);
}

TEST(Compare, WhatFailsNowIsToldWhereARaceDroppedItBefore) {
    Results before = synthetic_results(six_problems(1));
    Results after = synthetic_results(six_problems(2));
    for (const std::size_t i : {3U, 5U, 7U}) {
        before.records[i].measurement->stop_reason = StopReason::dropped;
        after.records[i].measurement.reset();
    }
    after.records[3].outcome = Outcome::launch_failed;
    after.records[5].outcome = Outcome::pruned;
    after.records[7].outcome = Outcome::incorrect;
    const ResultRows a = rows_of(before, "before");
    const ResultRows b = rows_of(after, "after");
    const Comparison comparison = compare(a, b, {});
    EXPECT_EQ(comparison.count(Verdict::missing), 2U);
    EXPECT_EQ(comparison.dropped, 1U);
}

TEST(Processes, AFailureInAnyOfThemHoldsAndADroppedTrialStandsBehindATime) {
    for (const std::size_t which : {0U, 1U, 2U}) {  // whichever is the newest
        std::vector<Results> before;
        std::vector<Results> after;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            before.push_back(synthetic_results(six_problems(2 * seed)));
            after.push_back(synthetic_results(six_problems(2 * seed + 1)));
        }
        after[which].records[4].outcome = Outcome::crashed;
        after[which].records[4].measurement.reset();
        after[which].records[7].measurement->stop_reason = StopReason::dropped;
        before[which].records[9].outcome = Outcome::pruned;  // as of an interrupted run
        before[which].records[9].measurement.reset();
        const ResultRows a = rows_of_runs(before, "before");
        const ResultRows b = rows_of_runs(after, "after");
        const Comparison comparison = compare(a, b, {});
        ASSERT_EQ(comparison.pairs.size(), 30U) << which;
        EXPECT_EQ(comparison.dropped, 0U) << which;
        EXPECT_EQ(comparison.pairs[4].verdict, Verdict::missing) << which;
        ASSERT_NE(comparison.candidate_row(comparison.pairs[4]), nullptr);
        EXPECT_EQ(comparison.candidate_row(comparison.pairs[4])->outcome, Outcome::crashed) << which;
        EXPECT_EQ(comparison.count(Verdict::missing), 1U) << which;
        EXPECT_EQ(comparison.count(Verdict::new_), 0U) << which;
    }
}

}  // namespace
}  // namespace normtune
