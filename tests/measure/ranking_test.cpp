#include "measure/ranking.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "measure/statistics.h"

namespace normtune {
namespace {

/// Rounds with drift that is common to all candidates, noise of each, and now and then an interruption.
class Bench {
public:
    explicit Bench(std::uint64_t seed) : engine_(seed) {}

    std::vector<Entrant> measure(const std::vector<double>& true_us, int rounds, double noise, double drift = 0) {
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> uniform;
        std::vector<Entrant> candidates(true_us.size());
        for (int round = 0; round < rounds; ++round) {
            const double common = std::exp(drift * normal(engine_));
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                const double interruption = uniform(engine_) < 0.03 ? 1.3 : 1.0;
                candidates[i].rounds_us.push_back(true_us[i] * common * std::exp(noise * normal(engine_)) * interruption);
            }
        }
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            candidates[i].key = fmt::format("c{}", i);
            candidates[i].p50_us = median(candidates[i].rounds_us);
        }
        return candidates;
    }

private:
    std::mt19937_64 engine_;
};

struct Family {
    std::size_t candidates;
    int rounds;
};

class EqualCandidates : public ::testing::TestWithParam<Family> {};

TEST_P(EqualCandidates, AllTieInNearlyEveryRun) {
    Bench bench(2);
    constexpr int runs = 600;
    int all_tied = 0;
    for (int run = 0; run < runs; ++run) {
        const std::vector<double> equal(GetParam().candidates, 10.0);
        const auto candidates = bench.measure(equal, GetParam().rounds, 0.01, 0.05);
        all_tied += rank(candidates).tied.size() == candidates.size();
    }
    EXPECT_GE(all_tied, runs * 0.95);
}

INSTANTIATE_TEST_SUITE_P(Families, EqualCandidates,
                         ::testing::Values(Family{2, 2}, Family{2, 6}, Family{2, 20}, Family{8, 3}, Family{8, 6}, Family{8, 20},
                                           Family{60, 6}, Family{60, 20}));

TEST(Ranking, TellsClearDifferencesApart) {
    Bench bench(3);
    constexpr int runs = 300;
    int right = 0;
    for (int run = 0; run < runs; ++run) {
        const auto candidates = bench.measure({10.6, 10, 11, 12}, 12, 0.005, 0.1);
        const Ranking ranking = rank(candidates);
        right += ranking.tied == std::vector<std::size_t>{1};
    }
    // An interruption of one of twelve rounds hides a 6% difference now and then; never does it invent one.
    EXPECT_GE(right, runs * 0.6);
    Bench calm(4);
    const auto candidates = calm.measure({10.6, 10, 11, 12}, 6, 0.002, 0.2);
    EXPECT_EQ(rank(candidates).order, (std::vector<std::size_t>{1, 0, 2, 3}));
}

TEST(Ranking, PairingCancelsDriftThatIsLargerThanTheDifference) {
    std::vector<Entrant> candidates{{"a", 0, {}}, {"b", 0, {}}};
    const double drift[] = {1, 1.3, 0.8, 1.6, 1.1, 0.9};
    for (double d : drift) {
        candidates[0].rounds_us.push_back(10 * d);
        candidates[1].rounds_us.push_back(10.3 * d * (candidates[1].rounds_us.size() % 2 == 0 ? 1.002 : 0.998));
    }
    for (Entrant& c : candidates) {
        c.p50_us = median(c.rounds_us);
    }
    EXPECT_EQ(rank(candidates).tied, std::vector<std::size_t>{0});
}

TEST(Ranking, LeastEffectKeepsRealButSmallDifferencesTied) {
    const std::vector<Entrant> candidates{{"a", 10, std::vector<double>(10, 10.0)}, {"b", 10.2, std::vector<double>(10, 10.2)}};
    EXPECT_EQ(rank(candidates).tied.size(), 1U);
    EXPECT_EQ(rank(candidates, 0.95, 0.03).tied.size(), 2U);
}

TEST(Ranking, OneRoundTellsNothingApart) {
    const std::vector<Entrant> candidates{{"a", 10, {10}}, {"b", 20, {20}}, {"c", 15, {15}}};
    const Ranking ranking = rank(candidates);
    EXPECT_EQ(ranking.order, (std::vector<std::size_t>{0, 2, 1}));
    EXPECT_EQ(ranking.tied, (std::vector<std::size_t>{0, 2, 1}));
}

TEST(Ranking, TwoRoundsTellApartOnlyWhatIsFarApart) {
    const std::vector<Entrant> candidates{{"a", 10, {10, 10.01}}, {"b", 10.1, {10.1, 10.12}}, {"c", 20, {20, 20.1}}};
    EXPECT_EQ(rank(candidates).tied, (std::vector<std::size_t>{0, 1}));
}

TEST(Ranking, UnequalRoundsArePairedOverThoseThatBothHave) {
    const std::vector<Entrant> candidates{{"a", 10, {10, 10, 10, 10}}, {"b", 10.2, {10.2, 10.2}}, {"c", 12, {12, 12, 12, 12, 1}}};
    EXPECT_EQ(rank(candidates).tied, (std::vector<std::size_t>{0, 1})) << "two rounds are too few for a 2% difference among three";
}

// "a" takes 10 or 12 µs by turns and has the less p50 by one round; "b" is the faster one in the mean.
TEST(Ranking, OfThoseThatTieTheSteadierMeanWins) {
    Entrant a{"a", 10, {}};
    Entrant b{"b", 10.9, {}};
    for (int round = 0; round < 13; ++round) {
        a.rounds_us.push_back(round % 2 == 0 ? 10 : 12);
        b.rounds_us.push_back(round % 2 == 0 ? 10.9 : 10.8);
    }
    const Entrant far{"far", 14, std::vector<double>(13, 14.0)};
    const std::vector<Entrant> candidates{a, far, b};
    EXPECT_EQ(rank(candidates).tied, (std::vector<std::size_t>{2, 0}));
    EXPECT_EQ(rank(candidates).order, (std::vector<std::size_t>{2, 0, 1}));
    const std::vector<Entrant> few{{"a", 10, {10, 12, 10}}, {"b", 10.9, {10.9, 10.8, 10.9}}};
    EXPECT_EQ(rank(few).order, (std::vector<std::size_t>{0, 1})) << "too few rounds for a mean";
}

TEST(Ranking, AnInterruptedRoundCostsNobodyTheWin) {
    Entrant a{"a", 10, std::vector<double>(13, 10.0)};
    Entrant b{"b", 10.05, std::vector<double>(13, 10.05)};
    for (int round = 0; round < 13; ++round) {
        b.rounds_us[static_cast<std::size_t>(round)] *= round % 2 == 0 ? 1.01 : 0.99;
    }
    a.rounds_us[5] = 14;
    EXPECT_EQ(rank(std::vector<Entrant>{b, a}).order.front(), 1U);
}

TEST(Resolution, IsTwoStandardErrorsOfThoseThatTie) {
    std::vector<Entrant> candidates{{"a", 10, {}}, {"b", 10, {}}, {"far", 20, {}}};
    for (int round = 0; round < 16; ++round) {
        const double drift = 1 + 0.1 * round;  // of both: pairing cancels it
        candidates[0].rounds_us.push_back(10 * drift);
        candidates[2].rounds_us.push_back(20 * drift);
        candidates[1].rounds_us.push_back(10 * drift * std::exp(round % 2 == 0 ? 0.04 : -0.04));
    }
    EXPECT_NEAR(resolution(candidates), 2 * 0.04 * std::sqrt(16.0 / 15) / 4, 1e-9);
    EXPECT_EQ(resolution(std::vector<Entrant>{candidates[0], candidates[2]}), 0);
    EXPECT_TRUE(std::isinf(resolution(std::vector<Entrant>{{"a", 1, {1}}, {"b", 1, {1}}})));
    EXPECT_EQ(resolution({}), 0);
}

TEST(Ranking, EqualTimesAreOrderedByKeyWhateverTheirOrder) {
    std::vector<Entrant> candidates{{"b", 10, {10, 10}}, {"a", 10, {10, 10}}, {"c", 10, {10, 10}}};
    const auto keys = [&] {
        std::string text;
        for (std::size_t i : rank(candidates).order) {
            text += candidates[i].key;
        }
        return text;
    };
    EXPECT_EQ(keys(), "abc");
    std::swap(candidates[0], candidates[2]);
    EXPECT_EQ(keys(), "abc");
}

TEST(Ranking, NoneAndOne) {
    EXPECT_TRUE(rank({}).order.empty());
    EXPECT_TRUE(finalists({}, 0.05, 8).empty());
    const std::vector<Entrant> one{{"a", 10, {10}}};
    EXPECT_EQ(rank(one).tied, std::vector<std::size_t>{0});
}

TEST(Finalists, AreTheTiedAndTheNearAndNoMoreThanAllowed) {
    const auto steady = [](const char* key, double us) { return Entrant{key, us, std::vector<double>(12, us)}; };
    const std::vector<Entrant> candidates{steady("a", 12), steady("b", 10), steady("c", 10.4), steady("d", 10.001)};
    EXPECT_EQ(finalists(candidates, 0.05, 8), (std::vector<std::size_t>{1, 3, 2}));
    EXPECT_EQ(finalists(candidates, 0.0, 8), (std::vector<std::size_t>{1, 3}));
    EXPECT_EQ(finalists(candidates, 0.05, 2), (std::vector<std::size_t>{1, 3}));
}

}  // namespace
}  // namespace normtune
