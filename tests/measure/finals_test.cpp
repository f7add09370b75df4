// Finals on synthetic noise.
#include "measure/finals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "synthetic_sampler.h"

namespace normtune {
namespace {

using testing::SyntheticSampler;

/// As recorded without noise.
std::vector<FinalsTrial> recorded(const std::vector<double>& times_us) {
    std::vector<FinalsTrial> trials;
    for (std::size_t i = 0; i < times_us.size(); ++i) {
        trials.push_back({{std::string(1, static_cast<char>('a' + i)), times_us[i], std::vector<double>(9, times_us[i])}});
    }
    return trials;
}

std::vector<std::size_t> trials_of(const FinalsResult& result) {
    std::vector<std::size_t> trials;
    for (const FinalsResult::Place& place : result.places) {
        trials.push_back(place.trial);
    }
    return trials;
}

const std::vector<double> spread{100, 103, 107, 111, 130};

TEST(Finals, AreAmongThoseThatAreNear) {
    SyntheticSampler sampler(spread, 0.001, 1);
    const FinalsResult result = hold_finals(recorded(spread), sampler);
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(result.places[0].rounds_us.size(), static_cast<std::size_t>(final_rounds));
    EXPECT_FALSE(result.places[0].tied);
}

TEST(Finals, FreshSamplesDecide) {
    SyntheticSampler sampler({104, 100, 107, 111, 130}, 0.001, 1);
    EXPECT_EQ(trials_of(hold_finals(recorded(spread), sampler)), (std::vector<std::size_t>{1, 0}));
}

TEST(Finals, WhoLeadsIsThereWhateverOthersTookAtAnotherTime) {
    std::vector<double> times(12, 100);
    times.push_back(97);
    std::vector<FinalsTrial> trials = recorded(times);
    trials.back().entrant.p50_us = 108;  // when all took more
    trials.back().entrant.rounds_us.assign(9, 108);
    trials.back().leads = true;
    SyntheticSampler sampler(times, 0.001, 1);
    FinalsResult result = hold_finals(trials, sampler);
    EXPECT_EQ(result.places.size(), most_finalists);
    EXPECT_EQ(result.places[0].trial, 12U);
    EXPECT_FALSE(result.places[0].tied);
    trials.back().dropped = true;
    result = hold_finals(trials, sampler);
    EXPECT_NE(result.places[0].trial, 12U);
}

TEST(Finals, TheFastestOfEachContestantIsMeasuredBesideAndNotRanked) {
    const std::vector<double> times{100, 103, 130, 120, 110};
    std::vector<FinalsTrial> trials = recorded(times);
    trials[2].contestant = trials[3].contestant = 1;
    trials[4].contestant = 2;
    trials[3].dropped = true;  // by a race: still the fastest of its own
    SyntheticSampler sampler({100, 103, 130, 90, 110}, 0.001, 1);
    const FinalsResult result = hold_finals(trials, sampler);
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{0, 1, 3, 4}));
    for (std::size_t i = 0; i < result.places.size(); ++i) {
        EXPECT_EQ(result.places[i].guest, i >= 2) << i;
        EXPECT_EQ(result.places[i].rounds_us.size(), static_cast<std::size_t>(final_rounds)) << i;
    }
}

TEST(Finals, OfAContestantWhoseFastestFailsTheNextIsThere) {
    std::vector<FinalsTrial> trials = recorded({100, 130, 120});
    trials[1].contestant = trials[2].contestant = 1;
    SyntheticSampler sampler({100, 130, 120}, 0.001, 1);
    sampler.fails_in_round = {{2, 4}};
    EXPECT_EQ(trials_of(hold_finals(trials, sampler)), (std::vector<std::size_t>{0, 1}));
}

TEST(Finals, AContestantAmongTheFinalistsHasNoGuest) {
    std::vector<FinalsTrial> trials = recorded({100, 103, 130});
    trials[1].contestant = trials[2].contestant = 1;
    SyntheticSampler sampler({100, 103, 130}, 0.001, 1);
    const FinalsResult result = hold_finals(trials, sampler);
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{0, 1}));
    EXPECT_FALSE(result.places[1].guest);
}

TEST(Finals, GoOnWhileThoseThatTieAreNotToldApart) {
    SyntheticSampler sampler({100, 100}, 0.1, 3);
    const FinalsResult result = hold_finals(recorded({100, 100}), sampler);
    EXPECT_GT(sampler.rounds(), final_rounds);
    EXPECT_TRUE(result.places[0].tied && result.places[1].tied);
}

TEST(Finals, TheNextBestIsMeasuredInThePlaceOfOneThatFails) {
    SyntheticSampler sampler(spread, 0.001, 1);
    sampler.fails_in_round = {{0, 4}};
    const FinalsResult result = hold_finals(recorded(spread), sampler);
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(result.places[0].rounds_us.size(), static_cast<std::size_t>(final_rounds)) << "side by side, from the first round on";
    EXPECT_EQ(result.places[1].rounds_us.size(), static_cast<std::size_t>(final_rounds));
}

TEST(Finals, TheNextBestIsMeasuredInThePlaceOfOneThatIsWrongAfterItsRounds) {
    SyntheticSampler sampler(spread, 0.001, 1);
    sampler.wrong = {0, 1};
    const FinalsResult result = hold_finals(recorded(spread), sampler);
    EXPECT_EQ(sampler.failed(), (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(result.places[0].rounds_us.size(), static_cast<std::size_t>(final_rounds));
    EXPECT_EQ(sampler.looks(), 2);
}

TEST(Finals, AProblemThatIsLostWhenItIsLookedAtIsRankedByWhatIsRecorded) {
    SyntheticSampler sampler(spread, 0.001, 1);
    sampler.wrong = {0};
    sampler.lost_when_looked_at = true;
    const FinalsResult result = hold_finals(recorded(spread), sampler);
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{1, 2}));
    EXPECT_TRUE(result.places[0].rounds_us.empty());
}

TEST(Finals, GoOnWithoutALoserThatFails) {
    SyntheticSampler sampler(spread, 0.001, 1);
    sampler.fails_in_round = {{1, 4}};
    EXPECT_EQ(trials_of(hold_finals(recorded(spread), sampler)), std::vector<std::size_t>{0});
    EXPECT_EQ(sampler.rounds(), final_rounds + 4);
}

TEST(Finals, WhomARaceDroppedIsAskedAgainWhereTheFasterHaveFailed) {
    std::vector<FinalsTrial> trials = recorded(spread);
    trials[1].dropped = trials[2].dropped = trials[4].dropped = true;
    SyntheticSampler whole(spread, 0.001, 1);
    EXPECT_EQ(trials_of(hold_finals(trials, whole)), std::vector<std::size_t>{0});
    SyntheticSampler failing(spread, 0.001, 1);
    failing.fails_in_round = {{0, 1}};
    EXPECT_EQ(trials_of(hold_finals(trials, failing)), (std::vector<std::size_t>{1, 2}));
    // One that was faster than all of them failed before the finals.
    SyntheticSampler after(spread, 0.001, 1);
    EXPECT_EQ(trials_of(hold_finals(trials, after, 99)), (std::vector<std::size_t>{0, 1}));
    SyntheticSampler slower(spread, 0.001, 1);
    EXPECT_EQ(trials_of(hold_finals(trials, slower, 101)), std::vector<std::size_t>{0});
}

TEST(Finals, ALostProblemIsRankedByWhatIsRecorded) {
    SyntheticSampler sampler(spread, 0.001, 1);
    sampler.lost_in_round = 3;
    const FinalsResult result = hold_finals(recorded(spread), sampler);
    EXPECT_EQ(trials_of(result), (std::vector<std::size_t>{0, 1}));
    EXPECT_TRUE(result.places[0].rounds_us.empty());
}

TEST(Finals, AreCutShortWhereTimeIsOver) {
    SyntheticSampler sampler(spread, 0.001, 1);
    sampler.rounds_until_time_is_over = 0;
    EXPECT_EQ(hold_finals(recorded(spread), sampler).places[0].rounds_us.size(), static_cast<std::size_t>(least_final_rounds));
}

TEST(Finals, HaveAWinnerAsLongAsOneTrialIsLeft) {
    Random random(7);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::vector<double> times_us(2 + random.below(10));
        std::map<std::size_t, int> failures;
        std::set<std::size_t> wrong;
        for (std::size_t i = 0; i < times_us.size(); ++i) {
            times_us[i] = 100 + 20 * random.unit();
            const std::uint64_t fate = random.below(4);
            if (fate < 2) {
                failures[i] = 1 + static_cast<int>(random.below(10));
            } else if (fate == 2) {
                wrong.insert(i);
            }
        }
        std::vector<FinalsTrial> trials = recorded(times_us);
        for (FinalsTrial& trial : trials) {
            trial.dropped = random.below(2) == 0;
        }
        SyntheticSampler sampler(times_us, 0.01, seed);
        sampler.fails_in_round = failures;
        sampler.wrong = wrong;
        if (random.below(4) == 0) {
            sampler.lost_in_round = 1 + static_cast<int>(random.below(20));
        }
        const FinalsResult result = hold_finals(trials, sampler);
        EXPECT_EQ(result.places.empty(), sampler.failed().size() == trials.size()) << seed;
        for (const FinalsResult::Place& place : result.places) {
            EXPECT_EQ(std::count(sampler.failed().begin(), sampler.failed().end(), place.trial), 0) << seed;
        }
    }
}

TEST(Finals, OfNothingHaveNoPlaces) {
    SyntheticSampler sampler({}, 0, 1);
    EXPECT_TRUE(hold_finals({}, sampler).places.empty());
    EXPECT_EQ(sampler.rounds(), 0);
}

}  // namespace
}  // namespace normtune
