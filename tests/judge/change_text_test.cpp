#include "judge/change_text.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace normtune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ChangeText, IsPercentOrAMultiple) {
    EXPECT_EQ(change_text(1.031), "+3.1%");
    EXPECT_EQ(change_text(0.9999), "+0.0%");
    EXPECT_EQ(change_text(0.98), "-2.0%");
    EXPECT_EQ(change_text(23), "x23");
    EXPECT_EQ(change_text(infinity), "from 0");
    EXPECT_EQ(change_text(std::nan("")), "-");
}

TEST(IntervalText, SaysWhereItSaysNothing) {
    EXPECT_EQ(interval_text(0.99, 1.02), "-1.0% to +2.0%");
    EXPECT_EQ(interval_text(0.2, 9), "-80.0% to +800.0%");
    EXPECT_EQ(interval_text(1e-12, 1e12), "says nothing");
    EXPECT_EQ(interval_text(0, infinity), "says nothing");
    EXPECT_EQ(interval_text(1.02, 1e12), "+2.0% or more");
    EXPECT_EQ(interval_text(1e-9, 0.98), "-2.0% or less");
}

}  // namespace
}  // namespace normtune
