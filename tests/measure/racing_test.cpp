// Racing's rule on synthetic noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scheduled_problem.h"

namespace normtune {
namespace {

using testing::SmallProblem;
using testing::SyntheticSampler;

/// Raced alone; reasons say who was dropped.
SyntheticSampler raced(const std::vector<double>& times_us, double sigma, std::uint64_t seed) {
    SyntheticSampler sampler(times_us, sigma, seed);
    const SmallProblem small(times_us.size());
    measure_batch(*small.schedule(*find_strategy("racing")), times_us.size(), false, sampler);
    return sampler;
}

TEST(Racing, WhoIsManyTimesSlowerHasOneRound) {
    const SyntheticSampler sampler = raced({10, 14, 40}, 0, 1);
    EXPECT_EQ(sampler.series(2)->rounds().size(), 1U);
    EXPECT_EQ(sampler.reasons()[2], StopReason::dropped);
    EXPECT_GT(sampler.series(1)->rounds().size(), 1U);
}

TEST(Racing, DropsWhoIsSlowerAndKeepsTheBestInAlmostEveryRace) {
    // Three standard deviations of one round's noise between the best and the others, and some far off.
    constexpr double sigma = 0.01;
    std::vector<double> times(40, 100 * (1 + 3 * sigma));
    times[17] = 100;
    for (std::size_t i = 20; i < 40; ++i) {
        times[i] = 115 + static_cast<double>(i);
    }
    constexpr int races = 400;
    int lost = 0;
    double left = 0;
    for (int seed = 0; seed < races; ++seed) {
        const SyntheticSampler sampler = raced(times, sigma, static_cast<std::uint64_t>(seed));
        lost += sampler.reasons()[17] == StopReason::dropped ? 1 : 0;
        left += static_cast<double>(times.size() - sampler.stopped_by(StopReason::dropped)) / races;
    }
    EXPECT_LE(lost, races / 100);  // the rule's confidence is 99%
    EXPECT_LT(left, 6.0);
}

TEST(Racing, EqualContendersStayAsManyAsTheFinalsTake) {
    const SyntheticSampler sampler = raced(std::vector<double>(30, 50.0), 0.001, 1);
    EXPECT_LE(sampler.stopped_by(StopReason::dropped), 22U);
    EXPECT_GE(sampler.rounds(), 6);
}

TEST(Racing, AnInterruptedContenderIsNotDroppedForIt) {
    SyntheticSampler sampler(std::vector<double>(10, 100.0), 0.002, 5);
    sampler.interrupted = {3, 3};
    const SmallProblem small(10);
    measure_batch(*small.schedule(*find_strategy("racing")), 10, false, sampler);
    EXPECT_NE(sampler.reasons()[3], StopReason::dropped);
}

TEST(Racing, MeetsTheIncumbentAndIsOverWhenItAloneIsLeft) {
    const SmallProblem small(12);
    const auto scheduler = small.schedule(*find_strategy("racing"));
    EXPECT_TRUE(scheduler->has_incumbent());
    std::vector<double> times_us(11, 200);
    times_us.back() = 100;  // the incumbent
    SyntheticSampler sampler(times_us, 0.01, 1);
    EXPECT_TRUE(measure_batch(*scheduler, 10, true, sampler));
    EXPECT_EQ(sampler.stopped_by(StopReason::dropped), 10U);
    EXPECT_EQ(sampler.rounds(), 1);
}

TEST(Racing, CutsRacesOfMuchTheSameSize) {
    const SmallProblem small(2);
    const auto scheduler = small.schedule(*find_strategy("racing"));
    EXPECT_EQ(scheduler->batch_size(64), 64U);
    EXPECT_EQ(scheduler->batch_size(65), 33U);
    EXPECT_EQ(scheduler->batch_size(32), 32U);
}

TEST(Racing, OneCandidateAloneIsMeasuredInFull) {
    const SmallProblem small(1);
    const auto scheduler = small.schedule(*find_strategy("racing"));
    EXPECT_FALSE(scheduler->has_incumbent());
    EXPECT_EQ(scheduler->round_time_us(), 2e4);
}

}  // namespace
}  // namespace normtune
