#include "judge/problem_ranking.h"

#include <algorithm>
#include <cmath>
#include <random>

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

TEST(ProblemRanking, FinalistsAreJudgedByTheirFreshRounds) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 10.4}, {w2, 10}, {w4, 11}});
    measurement(results, 0).final_rounds_us = {20.6, 20.5, 20.7};  // the machine was slower by then, for both
    measurement(results, 1).final_rounds_us = {20, 20.1, 19.9};
    std::vector<ProblemRanking> rankings = problem_rankings(results);
    EXPECT_NEAR(rankings[0].standings[0].loss(), 0.03, 1e-5);
    EXPECT_NEAR(rankings[0].standings[2].loss(), 0.1, 1e-12);  // no finalist: by p50
    measurement(results, 0).tied = true;
    rankings = problem_rankings(results);
    EXPECT_NEAR(rankings[0].standings[0].loss(), 0.03, 1e-5);  // a tie is no proof that there is no loss
    EXPECT_GT(rankings[0].standings[0].low, 1.0);
    EXPECT_LT(rankings[0].standings[0].high, 1.06);
    EXPECT_EQ(rankings[0].standings[1].high, 1);
}

TEST(ProblemRanking, AFinalistMayHaveComeOutFasterThanTheWinner) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 10.4}, {w2, 10}});
    measurement(results, 0).final_rounds_us = {9.9, 9.8, 10};
    measurement(results, 1).final_rounds_us = {10, 10, 10};
    EXPECT_NEAR(problem_rankings(results)[0].standings[0].loss(), -0.01, 1e-4);
    measurement(results, 0).final_rounds_us.back() = 30;  // an interrupted round
    const Standing standing = problem_rankings(results)[0].standings[0];
    EXPECT_LT(standing.low, 0.99);
    EXPECT_GT(standing.high, 1.5);
}

TEST(ProblemRanking, TheIntervalOfFinalistsCovers) {
    constexpr int problems = 400;
    constexpr int rounds = 15;
    constexpr double loss = 0.02;
    for (const double common : {0.0, 0.003, 0.02}) {  // what a round does to both
        std::mt19937_64 random(7);
        std::normal_distribution<double> normal(0, 1);
        Results results;
        for (int p = 0; p < problems; ++p) {
            add(results, problem_of(p + 1, 128), {{w1, 10 * (1 + loss)}, {w2, 10}});
            for (int round = 0; round < rounds; ++round) {
                const double of_both = common * normal(random);
                for (std::size_t i = 0; i < 2; ++i) {
                    Measurement& m = measurement(results, results.records.size() - 2 + i);
                    m.final_rounds_us.push_back(10 * (i == 0 ? 1 + loss : 1) * std::exp(of_both + 0.002 * normal(random)));
                }
            }
        }
        const std::vector<ProblemRanking> rankings = problem_rankings(results);
        const auto covers = std::ranges::count_if(rankings, [](const ProblemRanking& ranking) {
            return ranking.standings[0].low <= 1 + loss && 1 + loss <= ranking.standings[0].high;
        });
        EXPECT_NEAR(static_cast<double>(covers) / problems, 0.95, 0.025) << common;
    }
}

TEST(ProblemRanking, TheIntervalIsAsWideAsTheRounds) {
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
    Standing standing = problem_rankings(results)[0].standings[0];
    EXPECT_NEAR(standing.loss(), 0.02, 1e-12);
    EXPECT_LT(standing.low, 1);
    measurement(results, 0).rounds = rounds({10.2, 10.21, 10.19, 10.2, 10.2, 10.21});
    measurement(results, 1).rounds = rounds({10, 10.01, 9.99, 10, 10, 10.01});
    standing = problem_rankings(results)[0].standings[0];
    EXPECT_NEAR(standing.loss(), 0.02, 1e-12);
    EXPECT_GT(standing.low, 1.015);
}

TEST(ProblemRanking, WhatARaceDroppedHasAnEstimateAndAWideInterval) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 70}, {w2, 50}});
    measurement(results, 0).rounds = {{70, 1, false}};
    measurement(results, 0).stop_reason = StopReason::dropped;
    measurement(results, 1).rounds = {{50, 1, false}, {50.5, 1, false}, {49.5, 1, false}, {50, 1, false}, {50.2, 1, false}, {50, 1, false}};
    ProblemRanking ranking = std::move(problem_rankings(results)[0]);
    EXPECT_NEAR(ranking.standings[0].loss(), 0.4, 1e-12);
    EXPECT_TRUE(ranking.standings[0].dropped);
    EXPECT_GT(ranking.standings[0].high - ranking.standings[0].low, 0.05);
    WantedAgain wanted;
    wanted.add(ranking, &ranking.standings[0]);
    wanted.add(ranking, &ranking.standings[0]);
    wanted.add(ranking, &ranking.standings[1]);
    wanted.add(ranking, nullptr);
    const std::vector<TrialsAgain> trials = wanted.take();
    ASSERT_EQ(trials.size(), 1U);
    ASSERT_EQ(trials[0].configurations.size(), 2U);
    EXPECT_EQ(trials[0].configurations[0].key(), w2);

    std::vector<Results> fresh{results};
    for (std::size_t i = 0; i < 2; ++i) {
        measurement(fresh[0], i).rounds = {
            {i == 0 ? 60.0 : 50.0, 5, false}, {i == 0 ? 60.1 : 50.1, 5, false}, {i == 0 ? 59.9 : 49.9, 5, false}};
    }
    ranking = std::move(problem_rankings(results, Whose::own, fresh)[0]);
    EXPECT_NEAR(ranking.standings[0].loss(), 0.2, 1e-5);
    EXPECT_FALSE(ranking.standings[0].dropped);
    EXPECT_LT(ranking.standings[0].high, 1.21);
}

TEST(ProblemRanking, ColdRoundsSayNothingOfDataInCache) {
    Results hot;
    add(hot, problem_of(1, 128), {{w1, 70}, {w2, 50}});
    for (std::size_t i = 0; i < 2; ++i) {
        measurement(hot, i).cold = false;
    }
    measurement(hot, 0).stop_reason = StopReason::dropped;
    Results cold = hot;
    for (std::size_t i = 0; i < 2; ++i) {
        measurement(cold, i).cold = true;
    }
    std::vector<Results> fresh{cold};
    for (std::size_t i = 0; i < 2; ++i) {
        measurement(fresh[0], i).rounds = {{80, 5, false}, {80, 5, false}, {80, 5, false}};
    }
    const std::vector<ProblemRanking> of_hot = problem_rankings(hot, Whose::own, fresh);
    EXPECT_NEAR(of_hot[0].standings[0].loss(), 0.4, 1e-12);
    EXPECT_TRUE(of_hot[0].standings[0].dropped);
    EXPECT_NEAR(problem_rankings(cold, Whose::own, fresh)[0].standings[0].loss(), 0, 1e-12);
    const std::vector<ProblemRanking> of_cold = problem_rankings(cold);
    WantedAgain wanted;
    wanted.add(of_cold[0], &of_cold[0].standings[0]);
    wanted.add(of_hot[0], &of_hot[0].standings[0]);
    const std::vector<TrialsAgain> trials = wanted.take();
    ASSERT_EQ(trials.size(), 2U);
    EXPECT_NE(trials[0].cold, trials[1].cold);
}

TEST(ProblemRanking, WithoutARankingTheLeastTimeWins) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 11}, {w2, 10}});
    measurement(results, 1).rank = 0;
    EXPECT_EQ(problem_rankings(results)[0].winner, &results.records[1]);
}

TEST(ProblemRanking, WithoutARankingWhatARaceDroppedWinsLastAndIsMeasuredAgain) {
    Results results;
    add(results, problem_of(1, 128), {{w1, 11}, {w2, 10}, {w4, 12}});
    measurement(results, 1).rank = 0;
    measurement(results, 1).stop_reason = StopReason::dropped;
    EXPECT_EQ(problem_rankings(results)[0].winner, &results.records[0]);
    measurement(results, 1).final_rounds_us = {10, 10.1, 9.9};  // it was measured again, and more than the others
    EXPECT_EQ(problem_rankings(results)[0].winner, &results.records[1]);
    EXPECT_FALSE(problem_rankings(results)[0].standings[1].dropped);
    measurement(results, 1).final_rounds_us.clear();
    for (const std::size_t i : {0U, 2U}) {
        measurement(results, i).stop_reason = StopReason::dropped;
    }
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    EXPECT_EQ(rankings[0].winner, &results.records[1]);
    EXPECT_TRUE(rankings[0].standings[1].dropped) << "all losses rest on its few rounds";
}

TEST(ProblemRanking, OfAResultsCsvTheNumberOfRoundsSaysHowWideTheIntervalIs) {
    const auto width_of = [](int rounds) {
        Results results;
        add(results, problem_of(1, 128), {{w1, 11}, {w2, 10}, {w4, 12}});
        for (std::size_t i = 0; i < 3; ++i) {
            Measurement& m = measurement(results, i);
            m.rounds_taken = i == 0 ? rounds : 12;
            m.p20_us = m.p50_us * 0.99;
            m.p80_us = m.p50_us * 1.01;
        }
        const std::vector<ProblemRanking> rankings = problem_rankings(results);
        return rankings[0].standings[0].high - rankings[0].standings[0].low;
    };
    EXPECT_GT(width_of(2), 1.5 * width_of(5));
    EXPECT_GT(width_of(1), width_of(2) * 0.9);
    EXPECT_GT(width_of(5), 1.2 * width_of(12));
    EXPECT_NEAR(width_of(0), width_of(5), 1e-12) << "not known: five";
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
