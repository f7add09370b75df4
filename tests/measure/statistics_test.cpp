#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace normtune {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
    const std::vector<double> values{4, 1, 3, 2};
    EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
    EXPECT_DOUBLE_EQ(quantile(values, 0.2), 1.6);  // numpy.quantile([1, 2, 3, 4], 0.2)
    EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
    EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.8), 7);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
    EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 5}), 5);
    EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 5, 6}), 5.5);
}

TEST(MedianInterval, TakesTheOrderStatisticsOfTheBinomial) {
    std::vector<double> values(20);
    for (int i = 0; i < 20; ++i) {
        values[static_cast<std::size_t>(i)] = i + 1;
    }
    // Published table of nonparametric intervals: n = 20 at 95% takes the 6th and 15th values, coverage 0.9586.
    const Interval interval = median_interval(values, 0.95);
    EXPECT_DOUBLE_EQ(interval.low, 6);
    EXPECT_DOUBLE_EQ(interval.high, 15);
    EXPECT_NEAR(interval.coverage, 0.9586, 5e-5);
}

TEST(MedianInterval, FewValuesGiveTheRangeAndItsCoverage) {
    const Interval five = median_interval(std::vector<double>{3, 1, 2, 5, 4}, 0.95);
    EXPECT_DOUBLE_EQ(five.low, 1);
    EXPECT_DOUBLE_EQ(five.high, 5);
    EXPECT_DOUBLE_EQ(five.coverage, 0.9375);
    const Interval six = median_interval(std::vector<double>{3, 1, 2, 5, 4, 6}, 0.95);
    EXPECT_DOUBLE_EQ(six.low, 1);
    EXPECT_DOUBLE_EQ(six.coverage, 0.96875);
    const Interval one = median_interval(std::vector<double>{3}, 0.95);
    EXPECT_DOUBLE_EQ(one.low, 3);
    EXPECT_DOUBLE_EQ(one.high, 3);
    EXPECT_DOUBLE_EQ(one.coverage, 0);
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
    std::mt19937_64 engine(1);
    std::exponential_distribution<double> skewed(1.0);
    const double truth = std::log(2.0);
    int covered = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> values(11);
        for (double& v : values) {
            v = skewed(engine);
        }
        const Interval interval = median_interval(values, 0.95);
        covered += interval.low <= truth && truth <= interval.high;
    }
    EXPECT_GT(covered, trials * 0.95);
}

TEST(StudentT, AgreesWithPublishedQuantiles) {
    EXPECT_NEAR(student_t_tail(12.7062, 1), 0.025, 1e-6);
    EXPECT_NEAR(student_t_tail(4.30265, 2), 0.025, 1e-7);
    EXPECT_NEAR(student_t_tail(5.84091, 3), 0.005, 1e-7);
    EXPECT_NEAR(student_t_tail(2.77645, 4), 0.025, 1e-6);
    EXPECT_NEAR(student_t_tail(2.26216, 9), 0.025, 1e-6);
    EXPECT_NEAR(student_t_tail(3.85165, 30), 2.865468e-4, 1e-9);
    EXPECT_NEAR(student_t_tail(-2.77645, 4), 0.975, 1e-6);
    EXPECT_DOUBLE_EQ(student_t_tail(0, 7), 0.5);
}

}  // namespace
}  // namespace normtune
