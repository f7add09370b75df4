#include "judge/estimate.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(Estimate, OfEqualRoundsIsTheirLogarithm) {
    const std::vector<double> rounds(6, 50.0);
    const Estimate estimate = estimate_from_rounds(rounds);
    EXPECT_NEAR(estimate.center, std::log(50), 1e-12);
    EXPECT_EQ(estimate.variance, 0);
    EXPECT_EQ(estimate.degrees, 3);  // six rounds, one cut at either end
}

TEST(Estimate, MatchesYuensTrimmedMeanByHand) {
    // Logs 0…9, two cut at either end: mean of 2…7 is 4.5; Winsorised values 2,2,2,3,4,5,6,7,7,7 about 4.5.
    std::vector<double> rounds;
    for (int i = 0; i < 10; ++i) {
        rounds.push_back(std::exp(9.0 - i));
    }
    const Estimate estimate = estimate_from_rounds(rounds);
    EXPECT_NEAR(estimate.center, 4.5, 1e-12);
    EXPECT_NEAR(estimate.variance, (6 * 2.5 * 2.5 + 2 * 1.5 * 1.5 + 2 * 0.5 * 0.5) / (6 * 5), 1e-12);
    EXPECT_EQ(estimate.degrees, 5);
}

TEST(Estimate, AnInterruptedRoundHardlyMovesIt) {
    const std::vector<double> quiet{50.0, 50.1, 49.9, 50.05, 49.95, 50.0};
    std::vector<double> interrupted = quiet;
    interrupted.back() = 500;
    EXPECT_NEAR(estimate_from_rounds(interrupted).center, estimate_from_rounds(quiet).center, 0.002);
}

TEST(Estimate, OneRoundHasNoVariance) {
    const std::vector<double> one{50};
    EXPECT_EQ(estimate_from_rounds(one).degrees, 0);
}

TEST(Estimate, OfManyRoundsUsesThemAll) {
    std::vector<double> rounds;
    for (int i = 0; i < 500; ++i) {
        rounds.push_back(100 + i % 2);
    }
    EXPECT_NEAR(estimate_from_rounds(rounds).center, (std::log(100) + std::log(101)) / 2, 1e-9);
    EXPECT_EQ(estimate_from_rounds(rounds).degrees, 299);
}

TEST(Estimate, OfQuantilesHasTheMediansError) {
    const double sigma = 0.02;
    const double z = 0.8416212335729143;
    const Estimate estimate = estimate_from_quantiles(std::exp(-z * sigma), 1, std::exp(z * sigma), 8);
    EXPECT_NEAR(estimate.variance, 3.14159265 / 2 * sigma * sigma / 8, 1e-10);
    EXPECT_EQ(estimate.degrees, 7);
    EXPECT_EQ(estimate_from_quantiles(1, 2, 3, 0).degrees, 4);
    EXPECT_EQ(estimate_from_quantiles(std::nan(""), 2, std::nan(""), 8).degrees, 0);
}

TEST(UsualNoise, LiftsWhatIsTooQuietAndLeavesWhatIsNoisy) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 0.01);
    std::vector<Estimate> estimates;
    for (int i = 0; i < 200; ++i) {
        std::vector<double> rounds;
        for (int k = 0; k < 6; ++k) {
            rounds.push_back(100 * std::exp(noise(random)));
        }
        estimates.push_back(estimate_from_rounds(rounds));
    }
    const UsualNoise usual(estimates);
    Estimate quiet = estimates[0];
    quiet.variance = 1e-12;
    const Estimate lifted = usual.moderated(quiet);
    // Four of seven parts of the usual variance: 1e-4 a round over six rounds, and what trimming costs.
    EXPECT_GT(lifted.variance, 4.0 / 7 * 1e-4 / 6);
    EXPECT_LT(lifted.variance, 1.5 * 4.0 / 7 * 1e-4 / 6);
    EXPECT_EQ(lifted.degrees, 7);
    Estimate noisy = estimates[0];
    noisy.variance = 1;
    EXPECT_EQ(usual.moderated(noisy).variance, 1);
}

TEST(UsualNoise, OfFewTrialsIsNotTrusted) {
    const std::vector<double> rounds{100, 101, 102, 100, 101, 102};
    const std::vector<Estimate> few(3, estimate_from_rounds(rounds));
    EXPECT_EQ(UsualNoise(few).moderated(few[0]).variance, few[0].variance);
    EXPECT_EQ(UsualNoise(few).moderated(few[0]).degrees, few[0].degrees);
    const std::vector<double> silent(6, 100.0);
    EXPECT_GT(UsualNoise({}).moderated(estimate_from_rounds(silent)).variance, 0);
}

}  // namespace
}  // namespace normtune
