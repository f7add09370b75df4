#include "judge/control.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace normtune {
namespace {

constexpr double usual_us = 0.02;

/// Trials from 2 to 500 us whose launches became 0.17 us longer and all else 0.4 % slower, with a scatter.
std::vector<ControlSample> samples(std::size_t count, double scatter, double of_all_in_a_state = 0) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal(0, scatter);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<ControlSample> out;
    for (std::size_t i = 0; i < count; ++i) {
        const double us = 2 * std::pow(250, uniform(random));
        const double state = uniform(random) < of_all_in_a_state ? 0.03 : 0;
        out.push_back({std::log((us * 1.004 + 0.17) / us) + normal(random) + state, 0, us});
    }
    return out;
}

TEST(Control, FewPairsSayNothing) {
    EXPECT_FALSE(find_control({}, usual_us).known());
    EXPECT_FALSE(find_control(samples(11, 0.003), usual_us).known());
    EXPECT_TRUE(find_control(samples(12, 0.003), usual_us).known());
}

TEST(Control, FindsWhatAllMovedBy) {
    const Control control = find_control(samples(300, 0.003), usual_us);
    EXPECT_NEAR(control.shift, 0.004, 0.001);
    EXPECT_NEAR(control.shift_us, 0.17, 0.02);
    EXPECT_NEAR(control.deviation, 0.003, 0.001);
    EXPECT_NEAR(control.shift_at(4), std::log((4 * 1.004 + 0.17) / 4), 0.002);
    EXPECT_LT(control.shift_variance_at(100), 0.001 * 0.001);
}

TEST(Control, OfLongTrialsAloneIsUncertainOfShortOnes) {
    std::vector<ControlSample> all = samples(300, 0.003);
    std::erase_if(all, [](const ControlSample& sample) { return sample.us < 100; });
    const Control control = find_control(all, usual_us);
    EXPECT_GT(std::sqrt(control.shift_variance_at(2)), 0.02);
    EXPECT_LT(std::sqrt(control.shift_variance_at(200)), 0.002);
}

TEST(Control, AStateOfSomeTrialsIsScatter) {
    const Control control = find_control(samples(300, 0.001, 0.15), usual_us);
    EXPECT_GT(control.deviation, 0.008);
    EXPECT_LT(control.degrees, 50);
    EXPECT_LT(find_control(samples(300, 0.001), usual_us).deviation, 0.002);
}

}  // namespace
}  // namespace normtune
