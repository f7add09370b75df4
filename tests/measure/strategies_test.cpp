// The strategies on synthetic noise: no device, no process.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scheduled_problem.h"

namespace normtune {
namespace {

using testing::SmallProblem;
using testing::SyntheticSampler;

/// One of them 5 % faster than the others.
std::vector<double> one_fast(std::size_t count, std::size_t fast) {
    std::vector<double> times_us(count, 105);
    times_us[fast] = 100;
    return times_us;
}

TEST(Strategies, HaveNamesOfTheirOwnAndTheDefaultComesFirst) {
    const std::vector<std::string> names = strategy_names();
    EXPECT_EQ(names.front(), "racing");
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
    for (const std::string& name : names) {
        EXPECT_EQ(find_strategy(name)->name(), name);
    }
    EXPECT_EQ(find_strategy("Racing"), nullptr);
}

class EachStrategy : public ::testing::TestWithParam<const Strategy*> {};
INSTANTIATE_TEST_SUITE_P(All, EachStrategy, ::testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& given) { return std::string(given.param->name()); });

TEST_P(EachStrategy, TriesEachTrialOnce) {
    const SmallProblem small(200);
    const auto scheduler = small.schedule(*GetParam());
    std::vector<std::size_t> trials;
    for (std::size_t i = 0; i < 200; i += 3) {
        trials.push_back(i);
    }
    const std::vector<std::size_t> before = trials;
    scheduler->order(trials, {});
    EXPECT_NE(trials, before);
    std::sort(trials.begin(), trials.end());
    EXPECT_EQ(trials, before);
    for (std::size_t left = 1; left <= 200; ++left) {
        EXPECT_GE(scheduler->batch_size(left), 1U);
    }
}

TEST_P(EachStrategy, EndsEveryTrialAndKeepsTheFastest) {
    const SmallProblem small(40);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SyntheticSampler sampler(one_fast(40, 17), 0.01, seed);
        EXPECT_TRUE(measure_batch(*small.schedule(*GetParam()), 40, false, sampler));
        EXPECT_EQ(sampler.stopped_by(StopReason::none), 0U);
        EXPECT_NE(sampler.reasons()[17], StopReason::dropped);
    }
}

TEST_P(EachStrategy, EndsWhenTimeIsOverAndWhenTheProblemIsLost) {
    const SmallProblem small(10);
    SyntheticSampler late(one_fast(10, 3), 0.01, 1);
    late.rounds_until_time_is_over = 1;
    EXPECT_TRUE(measure_batch(*small.schedule(*GetParam()), 10, false, late));
    EXPECT_EQ(late.rounds(), 1);
    EXPECT_EQ(late.stopped_by(StopReason::time_cap), 10U);
    SyntheticSampler lost(one_fast(10, 3), 0.01, 1);
    lost.lost_in_round = 2;
    EXPECT_FALSE(measure_batch(*small.schedule(*GetParam()), 10, false, lost));
    EXPECT_EQ(lost.rounds(), 2);
}

TEST_P(EachStrategy, GoesOnWithoutThoseThatFail) {
    const SmallProblem small(10);
    SyntheticSampler sampler(one_fast(10, 3), 0.01, 1);
    sampler.fails_in_round = {{3, 2}, {5, 1}};
    EXPECT_TRUE(measure_batch(*small.schedule(*GetParam()), 10, false, sampler));
    EXPECT_EQ(sampler.stopped_by(StopReason::none), 2U);
    SyntheticSampler none_left(one_fast(2, 0), 0.01, 1);
    none_left.fails_in_round = {{0, 1}, {1, 1}};
    const SmallProblem two(2);
    EXPECT_TRUE(measure_batch(*two.schedule(*GetParam()), 2, false, none_left));
    EXPECT_EQ(none_left.rounds(), 1);
}

TEST_P(EachStrategy, ABudgetGivesEachProblemATurn) {
    std::vector<ProblemState> states(3, {10, 10, false, 0});
    std::set<std::size_t> visited;
    for (double left_s = 60; visited.size() < 3;) {
        const auto slice = GetParam()->next_slice(states, 60, left_s);
        ASSERT_TRUE(slice);
        EXPECT_TRUE(visited.insert(slice->problem).second);
        EXPECT_GT(slice->seconds, 10);
        left_s -= slice->seconds;
        EXPECT_GE(left_s, 0);
        states[slice->problem] = {10, 0, true, 1.1};
    }
    EXPECT_FALSE(GetParam()->next_slice(states, 60, 0));
}

TEST(Exhaustive, MeasuresAllByTheStopRule) {
    const SmallProblem small(40);
    SyntheticSampler sampler(one_fast(40, 17), 0.1, 1);
    measure_batch(*small.schedule(*find_strategy("exhaustive")), 40, false, sampler);
    EXPECT_EQ(sampler.stopped_by(StopReason::dropped), 0U);
    for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_GE(sampler.series(i)->rounds().size(), 6U);
    }
}

TEST(Exhaustive, ATwinGoesOnUntilBothAreKnown) {
    const SmallProblem small(1);
    const auto rounds = [&](bool twins) {
        SyntheticSampler sampler({100}, 0, 1);
        StopRule rule;
        rule.relative_half_width = 10;  // the drift is no matter here
        sampler.twins = twins;
        measure_batch(*find_strategy("exhaustive")->schedule({small.problem, small.candidates, rule, 2e4, 1}), 1, false, sampler);
        return sampler.rounds();
    };
    EXPECT_EQ(rounds(false), rounds(true));
    SyntheticSampler sampler({100}, 0.02, 1);  // fifty times as much for the twin
    sampler.twins = true;
    StopRule rule;
    rule.relative_half_width = 0.2;
    measure_batch(*find_strategy("exhaustive")->schedule({small.problem, small.candidates, rule, 2e4, 1}), 1, false, sampler);
    EXPECT_EQ(sampler.rounds(), rule.most_rounds);
}

}  // namespace
}  // namespace normtune
