#include "measure/race.h"

#include <gtest/gtest.h>

#include <cmath>

#include "devices/replay/recorded_times.h"
#include "support/random.h"

namespace normtune {
namespace {

/// Contender i takes `times[i]`, with normal noise and with drift that a round has in common.
void run(Race& race, const std::vector<double>& times, double sigma, Random& random) {
    while (race.left() > 1 && !race.over(6)) {
        const double drift = 1 + 0.1 * normal_draw(random);
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (race.running(i)) {
                race.take(i, times[i] * std::max(0.1, drift) * std::exp(sigma * normal_draw(random)));
            }
        }
        race.end_round();
    }
}

TEST(Race, WhoIsManyTimesSlowerHasOneRound) {
    Race race(3, 3, {});
    race.take(0, 10);
    race.take(1, 14);
    race.take(2, 40);
    EXPECT_EQ(race.end_round(), std::vector<std::size_t>{2});
    EXPECT_TRUE(race.running(1));
    EXPECT_FALSE(race.running(2));
}

TEST(Race, DropsWhoIsSlowerAndKeepsTheBestInAlmostEveryRace) {
    // Three standard deviations of one round's noise between the best and the others, and some far off.
    constexpr double sigma = 0.01;
    std::vector<double> times(40, 100 * (1 + 3 * sigma));
    times[17] = 100;
    for (std::size_t i = 20; i < 40; ++i) {
        times[i] = 115 + static_cast<double>(i);
    }
    constexpr int races = 400;
    int lost = 0;
    double left = 0;
    for (int seed = 0; seed < races; ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        Race race(times.size(), times.size(), {});
        run(race, times, sigma, random);
        lost += race.running(17) ? 0 : 1;
        left += static_cast<double>(race.left()) / races;
    }
    EXPECT_LE(lost, races / 100);  // the rule's confidence is 99%
    EXPECT_LT(left, 6.0);
}

TEST(Race, EqualContendersStayAsManyAsTheFinalsTake) {
    Random random(1);
    const std::vector<double> times(30, 50.0);
    Race race(times.size(), times.size(), {});
    run(race, times, 0.001, random);
    EXPECT_GE(race.left(), RaceRule{}.keep);
    EXPECT_GE(race.rounds(), 6);
}

TEST(Race, AnInterruptedContenderIsNotDroppedForIt) {
    std::vector<double> times(10, 100.0);
    Race race(times.size(), times.size(), {});
    Random random(5);
    for (int round = 0; round < 5; ++round) {
        for (std::size_t i = 0; i < times.size(); ++i) {
            const bool interrupted = i == 3 && round == 2;
            race.take(i, 100 * (1 + 0.002 * normal_draw(random)) * (interrupted ? 1.3 : 1));
        }
        race.end_round();
    }
    EXPECT_TRUE(race.running(3));
}

TEST(Race, WhoLeavesTeachesNothing) {
    Race race(2, 2, {});
    race.take(0, 10);
    race.leave(1);
    EXPECT_TRUE(race.end_round().empty());
    EXPECT_EQ(race.left(), 1U);
}

}  // namespace
}  // namespace normtune
