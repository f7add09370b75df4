#include "measure/stop_rule.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(StopRule, GoesOnBeforeTheLeastRounds) {
    const StopRule rule;
    EXPECT_EQ(rule.decide({}, 0), StopReason::none);
    const std::vector<double> steady(static_cast<std::size_t>(rule.least_rounds - 1), 10.0);
    EXPECT_EQ(rule.decide(steady, 100), StopReason::none);
}

TEST(StopRule, StopsOnceTheMedianIsKnown) {
    const std::vector<double> steady{10, 10.05, 9.98, 10.02, 10.01, 9.99};
    EXPECT_EQ(StopRule{}.decide(steady, 60), StopReason::confidence);
}

TEST(StopRule, NoConfidenceFromRoundsThatCannotGiveIt) {
    StopRule rule;
    rule.least_rounds = 3;
    const std::vector<double> five(5, 10.0);
    EXPECT_EQ(rule.decide(five, 50), StopReason::none) << "five values cover a median with 93.75% at most";
}

TEST(StopRule, GoesOnWhileNoisyUpToTheCap) {
    std::vector<double> noisy;
    for (int i = 0; i < 19; ++i) {
        noisy.push_back(i % 2 == 0 ? 10 : 12);
    }
    EXPECT_EQ(StopRule{}.decide(noisy, 200), StopReason::none);
    noisy.push_back(11);
    EXPECT_EQ(StopRule{}.decide(noisy, 200), StopReason::sample_cap);
}

TEST(StopRule, OneOutlierAmongEnoughRoundsDoesNotKeepItGoing) {
    std::vector<double> rounds(9, 10.0);
    rounds[4] = 40;
    EXPECT_EQ(StopRule{}.decide(rounds, 120), StopReason::confidence);
}

TEST(StopRule, TimeCapHoldsFromTheFirstRound) {
    StopRule rule;
    rule.time_cap_us = 1000;
    const std::vector<double> one{2000};
    EXPECT_EQ(rule.decide(one, 2000), StopReason::time_cap);
    EXPECT_EQ(rule.decide(one, 999), StopReason::none);
}

}  // namespace
}  // namespace normtune
