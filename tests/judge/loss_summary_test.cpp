#include "judge/loss_summary.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(LossSummary, MeansAreOfLogarithmsAndTheWorstKeepsItsInterval) {
    const int places[] = {0, 1, 2};
    LossSummary<int> summary;
    summary.add(places[0], LossEstimate{0.21, 0.0121});
    summary.add(places[1], std::nullopt);
    summary.add(places[2], LossEstimate{0, 0});
    EXPECT_EQ(summary.places, 3U);
    EXPECT_EQ(summary.judged, 2U);
    EXPECT_NEAR(summary.mean, 0.1, 1e-12);
    EXPECT_NEAR(summary.mean_half_width(), 1.1 * 0.01 / 2, 1e-12);
    EXPECT_EQ(summary.worst_on, &places[0]);
    EXPECT_EQ(summary.worst_half_width, 0.0121);
    summary.add(places[1], LossEstimate{0, std::numeric_limits<double>::infinity()});
    EXPECT_TRUE(std::isinf(summary.mean_half_width())) << "nothing says how far off one of them is";
    EXPECT_EQ(LossSummary<int>().mean_half_width(), 0);
}

// Of places whose losses err independently, each within its interval in 95 of 100 cases.
TEST(LossSummary, TheIntervalOfTheMeanHoldsInNineteenOfTwenty) {
    std::mt19937_64 random(7);
    constexpr int draws = 4000;
    int held = 0;
    for (int draw = 0; draw < draws; ++draw) {
        LossSummary<int> summary;
        double logs = 0;
        const int place = 0;
        for (int i = 0; i < 12; ++i) {
            const double sigma = 0.002 * (1 + i % 4);
            const double truth = 0.03 * (i % 3);
            const double seen = truth + std::normal_distribution<double>(0, sigma)(random);
            logs += truth;
            summary.add(place, LossEstimate{std::expm1(seen), std::exp(seen) * std::sinh(1.96 * sigma)});
        }
        held += std::fabs(summary.mean - std::expm1(logs / 12)) <= summary.mean_half_width() ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(held) / draws, 0.95, 0.015);
}

}  // namespace
}  // namespace normtune
