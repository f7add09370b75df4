#include "judge/run_to_run.h"

#include <random>

#include <gtest/gtest.h>

namespace normtune {
namespace {

std::vector<double> normals(std::size_t count, double center, double deviation) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal(center, deviation);
    std::vector<double> out(count);
    for (double& value : out) {
        value = normal(random);
    }
    return out;
}

TEST(DensestHalf, OfNormalValuesIsTheirDeviation) {
    EXPECT_NEAR(densest_half_deviation(normals(4000, 0.2, 0.01)), 0.01, 0.001);
}

TEST(DensestHalf, IsNotWidenedByTrialsThatChanged) {
    std::vector<double> values = normals(600, 0, 0.01);
    const std::vector<double> changed = normals(400, 0.5, 0.01);
    values.insert(values.end(), changed.begin(), changed.end());
    EXPECT_LT(densest_half_deviation(values), 0.025);  // of all values it would be 0.25
}

TEST(DensestHalf, OfOneValueOrNoneIsNothing) {
    EXPECT_EQ(densest_half_deviation({}), 0);
    EXPECT_EQ(densest_half_deviation({0.3}), 0);
}

}  // namespace
}  // namespace normtune
