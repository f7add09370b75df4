// How racing spends a budget.
#include <gtest/gtest.h>

#include <vector>

#include "measure/strategies/strategy.h"

namespace normtune {
namespace {

std::optional<Slice> next_slice(const std::vector<ProblemState>& states, double budget_s, double left_s) {
    return find_strategy("racing")->next_slice(states, budget_s, left_s);
}

TEST(Budget, EachProblemHasATurnBeforeAnyHasASecond) {
    std::vector<ProblemState> states = {{10, 10, false, 0}, {30, 30, false, 0}, {10, 10, false, 0}};
    double left = 60;
    double before = 0;
    for (const std::size_t expected : {0U, 1U, 2U}) {
        const auto slice = next_slice(states, 60, left);
        ASSERT_TRUE(slice);
        EXPECT_EQ(slice->problem, expected);
        EXPECT_GT(slice->seconds, before * 0.3);
        EXPECT_LT(slice->seconds, 40);
        before = slice->seconds;
        left -= slice->seconds;
        states[expected].visited = true;
        states[expected].missing = 5;
    }
    EXPECT_NEAR(left, 6, 1e-9);  // the reserve
}

TEST(Budget, SecondTurnsGoWhereMostMayBeGained) {
    // At the copy's speed; far from it with all tried; far from it with half of it never tried.
    const std::vector<ProblemState> states = {{100, 90, true, 1.0}, {100, 0, true, 2.0}, {100, 50, true, 1.3}};
    const auto slice = next_slice(states, 60, 10);
    ASSERT_TRUE(slice);
    EXPECT_EQ(slice->problem, 2U);
    EXPECT_GT(slice->seconds, 9);
    // What is at the copy's speed comes last, not never.
    const std::vector<ProblemState> rest = {{100, 90, true, 1.0}, {100, 0, true, 2.0}};
    EXPECT_EQ(next_slice(rest, 60, 10)->problem, 0U);
}

TEST(Budget, EndsWithTheTimeOrWithTheWork) {
    const std::vector<ProblemState> fresh = {{10, 10, false, 0}};
    EXPECT_FALSE(next_slice(fresh, 60, 0));
    const std::vector<ProblemState> rest = {{10, 5, true, 1.2}};
    EXPECT_FALSE(next_slice(rest, 60, 0.4));
    EXPECT_TRUE(next_slice(rest, 60, 0.6));
    const std::vector<ProblemState> done = {{10, 0, true, 1.2}};
    EXPECT_FALSE(next_slice(done, 60, 30));
}

}  // namespace
}  // namespace normtune
