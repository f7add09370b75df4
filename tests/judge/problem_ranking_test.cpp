#include "judge/problem_ranking.h"

#include <gtest/gtest.h>

#include "judge/synthetic_records.h"

namespace normtune {
namespace {

using testing::add;
using testing::problem_of;

constexpr const char* w1 = "w1.t32.r1.row.registers.masked.per_row";
constexpr const char* w2 = "w2.t64.r1.row.registers.masked.per_row";
constexpr const char* w4 = "w4.t128.r1.row.registers.masked.per_row";

Measurement& measurement(Results& results, std::size_t i) {
    return *results.records[i].measurement;
}

TEST(ProblemRanking, LossIsTheTimeOverTheWinners) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 11}, {w2, 10}, {w4, 15}});
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    ASSERT_EQ(rankings.size(), 1u);
    EXPECT_EQ(rankings[0].winner, &results.records[1]);
    EXPECT_NEAR(rankings[0].standings[0].loss(), 0.1, 1e-12);
    EXPECT_EQ(rankings[0].standings[1].loss(), 0);
    EXPECT_NEAR(rankings[0].standings[2].loss(), 0.5, 1e-12);
}

TEST(ProblemRanking, FinalistsAreJudgedByTheirFreshRoundsAndTiesLoseNothing) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 10.4}, {w2, 10}, {w4, 11}});
    measurement(results, 0).final_rounds_us = {20.6, 20.5, 20.7};  // the machine was slower by then, for both
    measurement(results, 1).final_rounds_us = {20, 20.1, 19.9};
    std::vector<ProblemRanking> rankings = problem_rankings(results);
    EXPECT_NEAR(rankings[0].standings[0].loss(), 0.03, 1e-12);
    EXPECT_NEAR(rankings[0].standings[2].loss(), 0.1, 1e-12);  // no finalist: by p50
    measurement(results, 0).tied = true;
    rankings = problem_rankings(results);
    EXPECT_EQ(rankings[0].standings[0].loss(), 0);
    EXPECT_NEAR(rankings[0].standings[0].ratio, 1.03, 1e-12);
}

TEST(ProblemRanking, AFinalistThatCameOutFasterThanTheWinnerGainsNothing) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 10.4}, {w2, 10}});
    measurement(results, 0).final_rounds_us = {9.9, 9.8, 30};
    measurement(results, 1).final_rounds_us = {10, 10, 10};
    EXPECT_EQ(problem_rankings(results)[0].standings[0].loss(), 0);
}

TEST(ProblemRanking, RoundsThatDoNotTellTwoApartAreNoLoss) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 10.2}, {w2, 10}});
    const auto rounds = [](std::initializer_list<double> medians) {
        std::vector<Round> out;
        for (const double us : medians) {
            out.push_back({us, 5, false});
        }
        return out;
    };
    measurement(results, 0).rounds = rounds({10.2, 9.5, 11.1, 10.2, 9.9, 10.4});
    measurement(results, 1).rounds = rounds({10, 10.3, 9.6, 10, 10.2, 9.8});
    EXPECT_EQ(problem_rankings(results)[0].standings[0].loss(), 0);
    measurement(results, 0).rounds = rounds({10.2, 10.21, 10.19, 10.2, 10.2, 10.21});
    measurement(results, 1).rounds = rounds({10, 10.01, 9.99, 10, 10, 10.01});
    EXPECT_NEAR(problem_rankings(results)[0].standings[0].loss(), 0.02, 1e-12);
}

TEST(ProblemRanking, WithoutARankingTheLeastTimeWins) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 11}, {w2, 10}});
    measurement(results, 1).rank = 0;
    EXPECT_EQ(problem_rankings(results)[0].winner, &results.records[1]);
}

TEST(ProblemRanking, WhatFailedIsNotInItAndAProblemWithoutATimeIsNone) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 11}, {w2, 10}});
    add(results, problem_of(2, 128), {{w1, 11}});
    results.records[0].outcome = Outcome::incorrect;
    results.records[2].outcome = Outcome::pruned;
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    ASSERT_EQ(rankings.size(), 1u);
    EXPECT_EQ(rankings[0].standings.size(), 1u);
}

}  // namespace
}  // namespace normtune
