// One run a side cannot tell trials in states of their own from trials that a change moved.
#include "judge/both_ways.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "judge/gate.h"
#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::synthetic_results;
using testing::SyntheticSweep;

/// Factor on each of 12 problems' 10 trials in the second run.
using Slowdown = std::function<double(int problem, int configuration)>;

struct Compared {
    explicit Compared(const Slowdown& planted, int configurations = 10) {
        SyntheticSweep sweep;
        sweep.problems = 12;
        sweep.configurations = configurations;
        sweep.run_deviation = 0;
        sweep.seed = 21;
        before = rows_of(synthetic_results(sweep), "before");
        sweep.seed = 22;
        sweep.planted = planted;
        after = rows_of(synthetic_results(sweep), "after");
        comparison = compare(before, after, {});
    }
    std::size_t slower() const { return comparison.count(Verdict::slower); }
    std::size_t faster() const { return comparison.count(Verdict::faster); }
    std::size_t both_ways() const { return static_cast<std::size_t>(std::ranges::count_if(comparison.pairs, &Pair::is_of_both_ways)); }
    ResultRows before;
    ResultRows after;
    Comparison comparison;
};

/// Two trials of each problem: one slower by so much, one faster.
Slowdown one_each(double slower, double faster) {
    return [=](int, int c) { return c == 0 ? 1 + slower : c == 1 ? 1 / (1 + faster) : 1.0; };
}

TEST(BothWays, AsManyFasterAsSlowerAreAmbiguousAndSaySo) {
    const Compared it(one_each(0.05, 0.05));
    EXPECT_EQ(it.slower() + it.faster(), 0U);
    EXPECT_EQ(it.both_ways(), 24U);
    const Pair& pair = *std::ranges::find_if(it.comparison.pairs, &Pair::is_of_both_ways);
    EXPECT_EQ(pair.verdict, Verdict::ambiguous);
    EXPECT_GT(pair.low, 1) << "its interval is what it was";
    EXPECT_NE(it.comparison.note(pair).find("several runs a side"), std::string::npos) << it.comparison.note(pair);
    const std::vector<std::string> remarks = remarks_on(it.comparison);
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0].find("24 pairs moved"), 0U) << remarks[0];
}

TEST(BothWays, IsAskedAtTheThresholdThatAPolicyHasForThePair) {
    const Compared it(one_each(0.05, 0.05));
    for (const std::string of_policy : {"percent: 1\n", "percent: 10\nthresholds:\n  - {problem: '*', percent: 1}\n"}) {
        const Policy policy = parse_policy("name: p\n" + of_policy, "policy.yaml");
        const Comparison comparison = compare(it.before, it.after, policy.settings(Metric::latency));
        EXPECT_EQ(std::ranges::count_if(comparison.pairs, &Pair::is_of_both_ways), 24) << of_policy;
        const GateVerdict verdict = judge_gate(policy, {&comparison, 1}, "2026-11-21");
        EXPECT_EQ(verdict.count(GateResult::fail), 0U) << of_policy;
        EXPECT_EQ(verdict.result, GateResult::inconclusive) << of_policy;
    }
}

TEST(BothWays, WhatMovedFurtherThanTheOthersIsCalled) {
    const Compared it(one_each(0.05, 0.02));
    EXPECT_EQ(it.slower(), 12U);
    EXPECT_EQ(it.faster(), 0U) << "as many are slower by more";
}

TEST(BothWays, WhatMovedFurtherThanAnyStateIsCalledAndSpeaksAgainstNoOther) {
    EXPECT_EQ(Compared(one_each(0.2, 0.2)).both_ways(), 0U);
    const Compared it(one_each(0.3, 0.04));
    EXPECT_EQ(it.slower(), 12U);
    EXPECT_EQ(it.faster(), 12U);
}

TEST(BothWays, OneWayAloneIsCalledAndSoIsItBesideOneThatMovedTheOtherWay) {
    EXPECT_EQ(Compared(one_each(0.05, 0)).slower(), 12U);
    const Compared it([](int p, int c) { return c == 0 ? 1.05 : p == 0 && c == 1 ? 1 / 1.05 : 1.0; });
    EXPECT_EQ(it.slower(), 12U);
    EXPECT_EQ(it.both_ways(), 1U) << "the one that is faster";
}

TEST(BothWays, ProblemsOfWhichAllMovedOneWayAreCalled) {
    const Compared it([](int p, int) { return p < 2 ? 1.05 : p < 4 ? 1 / 1.05 : 1.0; });
    EXPECT_EQ(it.slower(), 20U);
    EXPECT_EQ(it.faster(), 20U);
    // Too few trials of a problem to tell by themselves.
    const Compared few([](int p, int) { return p < 2 ? 1.05 : p < 4 ? 1 / 1.05 : 1.0; }, 5);
    EXPECT_EQ(few.slower() + few.faster(), 0U);
}

TEST(BothWays, AGateMeasuresThemAgainAndFailsWhatIsConfirmed) {
    Compared it(one_each(0.05, 0.05));
    const Policy policy = parse_policy("name: p\nmetrics: [latency]\n", "policy.yaml");
    GateVerdict verdict = judge_gate(policy, std::span(&it.comparison, 1), "2026-11-21");
    EXPECT_EQ(verdict.result, policy.ambiguous);
    EXPECT_EQ(verdict.count(GateResult::fail), 0U);
    const Suspects suspects = suspects_of(verdict);
    ASSERT_EQ(suspects.trials.size(), 12U) << "those that may be slower";
    // Measured again, half of them are slower, as before.
    SyntheticSweep sweep;
    sweep.problems = 12;
    sweep.run_deviation = 0;
    sweep.seed = 23;
    sweep.planted = [](int p, int c) { return c == 0 && p < 6 ? 1.05 : 1.0; };
    Results again = synthetic_results(sweep);
    std::erase_if(again.records, [](const Record& record) { return record.candidate.configuration()->rows_per_program != 1; });
    const ResultRows fresh = rows_of(again, "fresh");
    confirm(verdict, policy, compare(it.before, fresh, policy.settings(Metric::latency)));
    EXPECT_EQ(verdict.count(GateResult::fail), 6U);
    EXPECT_EQ(verdict.result, GateResult::fail);
    for (const GateCase& of_one : verdict.cases) {
        if (of_one.result == GateResult::fail) {
            EXPECT_EQ(of_one.verdict, Verdict::slower);
            EXPECT_NE(of_one.reason.find("; confirmed by fresh rounds"), std::string::npos) << of_one.reason;
        }
    }
}

}  // namespace
}  // namespace normtune
