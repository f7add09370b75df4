// One run a side cannot tell a trial that differs from run to run by far more than the others from one that a change moved.
#include "judge/unstable.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "judge/gate.h"
#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::synthetic_results;
using testing::SyntheticSweep;

/// 12 problems with 10 trials each of which the first few are slower by so much, each in another problem.
struct Moving {
    int trials = 1;
    double slower = 0.03;
    std::size_t runs = 1;  // a side
    int problems = 12;
    int configurations = 10;
};

struct MovedRuns {
    explicit MovedRuns(const Moving& moving) {
        SyntheticSweep sweep;
        sweep.problems = moving.problems;
        sweep.configurations = moving.configurations;
        sweep.run_deviation = 0;
        sweep.seed = 31;
        const auto side = [&](std::string_view name) {
            std::vector<Results> runs;
            for (std::size_t run = 0; run < moving.runs; ++run) {
                runs.push_back(synthetic_results(sweep));
                ++sweep.seed;
            }
            return rows_of_runs(runs, std::string(name));
        };
        before = side("before");
        sweep.planted = [=](int p, int c) { return c == 0 && p < moving.trials ? 1 + moving.slower : 1.0; };
        after = side("after");
        comparison = compare(before, after, {});
    }
    std::size_t slower() const { return comparison.count(Verdict::slower); }
    ResultRows before;
    ResultRows after;
    Comparison comparison;
};

TEST(Unstable, APairThatMovedAloneIsAmbiguousAndSaysSo) {
    const MovedRuns it({.trials = 1, .slower = 0.03});
    EXPECT_EQ(it.slower(), 0U);
    const auto pair = std::ranges::find_if(it.comparison.pairs, &Pair::is_maybe_unstable);
    ASSERT_NE(pair, it.comparison.pairs.end());
    EXPECT_EQ(pair->verdict, Verdict::ambiguous);
    EXPECT_GT(pair->low, 1) << "its interval is what it was";
    EXPECT_NE(it.comparison.note(*pair).find("several runs a side"), std::string::npos) << it.comparison.note(*pair);
    const std::vector<std::string> remarks = remarks_on(it.comparison);
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0].find("1 pair moved"), 0U) << remarks[0];
}

TEST(Unstable, IsAskedAtTheThresholdThatAPolicyHasForThePair) {
    const MovedRuns it({.trials = 1, .slower = 0.03});
    for (const std::string of_policy : {"percent: 1\n", "percent: 10\nthresholds:\n  - {problem: '*', percent: 1}\n"}) {
        const Policy policy = parse_policy("name: p\n" + of_policy, "policy.yaml");
        const Comparison comparison = compare(it.before, it.after, policy.settings(Metric::latency));
        EXPECT_EQ(std::ranges::count_if(comparison.pairs, &Pair::is_maybe_unstable), 1) << of_policy;
        const GateVerdict verdict = judge_gate(policy, {&comparison, 1}, "2026-11-21");
        EXPECT_EQ(verdict.count(GateResult::fail), 0U) << of_policy;
        EXPECT_EQ(verdict.result, GateResult::inconclusive) << of_policy;
    }
}

TEST(Unstable, AsManyAsNoUnstableTrialsWouldBeAreCalled) {
    EXPECT_EQ(MovedRuns({.trials = 5, .slower = 0.03}).slower(), 5U);
    EXPECT_EQ(MovedRuns({.trials = 12, .slower = 0.025}).slower(), 12U);
}

TEST(Unstable, WhatMovedFurtherThanAnUnstableTrialIsCalled) {
    EXPECT_EQ(MovedRuns({.trials = 1, .slower = 0.06}).slower(), 1U);
}

TEST(Unstable, OfFewPairsAnUnstableOneIsUnlikely) {
    EXPECT_EQ(MovedRuns({.trials = 1, .slower = 0.03, .problems = 2, .configurations = 5}).slower(), 1U);
}

TEST(Unstable, SeveralRunsASideTell) {
    EXPECT_EQ(MovedRuns({.trials = 1, .slower = 0.03, .runs = 3}).slower(), 1U);
}

TEST(Unstable, AGateMeasuresThemAgain) {
    MovedRuns it({.trials = 1, .slower = 0.03});
    const Policy policy = parse_policy("name: p\nmetrics: [latency]\npercent: 1\n", "policy.yaml");
    GateVerdict verdict = judge_gate(policy, std::span(&it.comparison, 1), "2026-11-21");
    EXPECT_EQ(verdict.count(GateResult::fail), 0U);
    EXPECT_EQ(suspects_of(verdict).trials.size(), 1U);
}

}  // namespace
}  // namespace normtune
