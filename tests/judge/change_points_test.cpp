#include "judge/change_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "judge/synthetic_history.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

using testing::synthetic_history;
using testing::SyntheticNights;

std::vector<double> nights(std::uint64_t seed, double planted, int* at = nullptr) {
    SyntheticNights what;
    what.floor_steps = what.driver_changes = 0;
    what.planted = planted;
    what.seed = seed;
    const testing::SyntheticHistory made = synthetic_history(what);
    std::vector<double> out;
    for (const HistoryNight& night : made.history.series.front().nights) {
        out.push_back(std::log(night.times.p50_us - night.times.floor_us));
    }
    if (at != nullptr) {
        *at = made.planted_at;
    }
    return out;
}

TEST(ChangePoints, AsksEveryNightAndNeverTakesBackWhatItTold) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::vector<double> values = nights(seed, 0.02);
        const std::vector<ChangePoint> all = find_change_points(values, {});
        ASSERT_FALSE(all.empty());
        for (std::size_t until = 20; until <= values.size(); until += 7) {
            const std::vector<ChangePoint> then = find_change_points(std::span(values).first(until), {});
            std::size_t told = 0;
            while (told < all.size() && all[told].found < until) {
                ++told;
            }
            ASSERT_EQ(then.size(), told);
            for (std::size_t i = 0; i < told; ++i) {
                EXPECT_EQ(then[i].found, all[i].found);
                EXPECT_EQ(then[i].p, all[i].p);
            }
        }
    }
}

TEST(ChangePoints, KeepsItsBoundsOnNoiseAsRecorded) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    constexpr int series = 60;
    double alarms = 0;
    int found = 0;
    int right_night = 0;
    int covered = 0;
    for (std::uint64_t seed = 0; seed < series; ++seed) {
        alarms += static_cast<double>(find_change_points(nights(seed, 0), {}).size());
        int at = 0;
        const std::vector<ChangePoint> points = find_change_points(nights(1000 + seed, 0.02, &at), {});
        for (const ChangePoint& point : points) {
            const int off = static_cast<int>(point.night) - at;
            if (std::abs(off) <= 2) {
                found += static_cast<int>(point.found) < at + 5 ? 1 : 0;
                right_night += off == 0 ? 1 : 0;
                covered += point.change.low <= std::log(1.02) && std::log(1.02) <= point.change.high ? 1 : 0;
            }
        }
    }
    EXPECT_LE(alarms / series, 1);
    EXPECT_GE(found, 57) << "of 60 within 5 nights";
    EXPECT_GE(right_night, 54);
    EXPECT_GE(covered, 52) << "of 95 % intervals";
}

TEST(ChangePoints, OneNightIsAnAccidentAndThreeAreALevel) {
    std::vector<double> values = nights(3, 0);
    values.resize(60);
    values[50] += 0.3;
    EXPECT_TRUE(find_change_points(values, {}).empty());
    for (std::size_t i = 55; i < values.size(); ++i) {
        values[i] -= 0.05;
    }
    const std::vector<ChangePoint> points = find_change_points(values, {});
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].night, 55U);
    EXPECT_NEAR(points[0].change.size, -0.05, 0.004);
}

TEST(ChangePoints, ANightWithACauseIsToldSoonerAndIsTheOneThatIsTaken) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    constexpr int series = 60;
    int sooner = 0;
    int alone = 0;
    int together = 0;
    double alarms = 0;
    for (std::uint64_t seed = 0; seed < series; ++seed) {
        int at = 0;
        std::vector<double> values = nights(seed, 0.004, &at);
        std::vector<bool> changed(values.size(), false);
        for (std::size_t i = 17; i < values.size(); i += 60) {
            changed[i] = true;
        }
        alarms += static_cast<double>(find_change_points(nights(seed, 0), {}, changed).size());
        changed.assign(values.size(), false);
        changed[static_cast<std::size_t>(at)] = true;
        const auto told = [&](const std::vector<ChangePoint>& points) {
            return std::find_if(points.begin(), points.end(), [&](const ChangePoint& point) {
                return static_cast<int>(point.night) == at && static_cast<int>(point.found) < at + 10;
            });
        };
        const std::vector<ChangePoint> without = find_change_points(values, {});
        const std::vector<ChangePoint> with = find_change_points(values, {}, changed);
        alone += told(without) != without.end() ? 1 : 0;
        together += told(with) != with.end() ? 1 : 0;
        values[static_cast<std::size_t>(at) - 1] += 0.03;  // an accident on the night before looks like the first of the new level
        const std::vector<ChangePoint> disturbed = find_change_points(values, {}, changed);
        sooner += told(disturbed) != disturbed.end() ? 1 : 0;
    }
    EXPECT_GE(together, alone + 15) << "0.4 % is too little for ten nights that nothing singles out";
    EXPECT_GE(sooner, together - 6);
    EXPECT_LE(alarms / series, 1);
}

TEST(ChangePoints, WhereEveryNightHasACauseNoneIsBelievedMore) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    constexpr int series = 60;
    double alarms = 0;
    for (std::uint64_t seed = 0; seed < series; ++seed) {
        alarms += static_cast<double>(find_change_points(nights(seed, 0), {}, std::vector<bool>(300, true)).size());
    }
    EXPECT_LE(alarms / series, 1);
}

TEST(ChangePoints, NeedsThirteenNights) {
    std::vector<double> values(12, 1.0);
    for (std::size_t i = 6; i < values.size(); ++i) {
        values[i] = 2;
    }
    EXPECT_TRUE(find_change_points(values, {}).empty());
    EXPECT_TRUE(find_change_points({}, {}).empty());
    values.assign(40, 1.0);  // not any noise at all
    EXPECT_TRUE(find_change_points(values, {}).empty());
    values.resize(50, 1.01);
    EXPECT_EQ(find_change_points(values, {}).size(), 1U);
}

TEST(ChangePoints, SeriesTellHowNoisyANightWas) {
    SyntheticNights what;
    what.problems = 30;
    what.noisy_weeks = what.floor_steps = what.driver_changes = 0;
    what.nights = 100;
    std::vector<std::vector<double>> series;
    Random random(5);
    for (const HistorySeries& it : synthetic_history(what).history.series) {
        std::vector<double>& values = series.emplace_back();
        for (const HistoryNight& night : it.nights) {
            values.push_back(std::log(night.times.p50_us));
        }
        for (std::size_t i = 60; i < 70; ++i) {
            values[i] += 0.02 * (random.unit() - 0.5);
        }
        for (std::size_t i = 80; i < 100; ++i) {
            values[i] += 0.05;  // of all together, which is no noise
        }
    }
    const std::vector<double> noise = noise_of_nights(series, 100);
    EXPECT_GT(noise[65], 2);
    EXPECT_LT(noise[50], 1.5);
    EXPECT_LT(noise[80], 1.5);
    EXPECT_LT(noise[82], 1.5);
    EXPECT_EQ(noise_of_nights(std::span(series).first(3), 100), std::vector<double>(100, 1)) << "three series cannot tell";
}

}  // namespace
}  // namespace normtune
