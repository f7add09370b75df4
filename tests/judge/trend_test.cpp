#include "judge/trend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "judge/synthetic_history.h"
#include "support/error.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

using testing::synthetic_history;
using testing::SyntheticHistory;
using testing::SyntheticNights;

constexpr std::string_view last_night = "2026-11-22";

SyntheticNights quiet() {
    SyntheticNights what;
    what.nights = 60;
    what.deviation = 0.001;
    what.noisy_weeks = what.floor_steps = what.driver_changes = what.rebuilds = 0;
    what.accidents = 0;
    what.seed = 1;
    return what;
}

Policy default_policy() {
    Policy policy;
    policy.name = "default";
    return policy;
}

void slow_down(History& history, std::size_t from, double by) {
    for (HistorySeries& series : history.series) {
        for (std::size_t i = from; i < series.nights.size(); ++i) {
            series.nights[i].times.p50_us *= by;
        }
    }
}

const TrendChange& only_change(const Trend& trend) {
    EXPECT_EQ(trend.series.front().changes.size(), 1U);
    return trend.series.front().changes.at(0);
}

TEST(Trend, BoundsOfFalseAlarmsAndOfWhatIsFound) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    testing::TrendCounts none;
    testing::TrendCounts planted;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SyntheticNights what;
        what.seed = seed;
        none.add(synthetic_history(what));
        what.planted = 0.02;
        planted.add(synthetic_history(what));
    }
    EXPECT_LE(none.false_alarms / none.series, 1);
    EXPECT_EQ(none.false_large, 0);
    EXPECT_GE(planted.found_5 / planted.series, 0.95);
    EXPECT_GE(none.floor_told / none.floor_steps, 0.95);
    EXPECT_GE(none.driver_told / none.drivers, 0.9);
}

TEST(Trend, NoisyWeeksHoldTheBoundsToo) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    testing::TrendCounts none;
    testing::TrendCounts planted;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SyntheticNights what;
        what.deviation = 0.002;
        what.noisy = 5;
        what.seed = seed;
        none.add(synthetic_history(what));
        what.planted = 0.02;
        planted.add(synthetic_history(what));
    }
    EXPECT_LE(none.false_alarms / none.series, 1);
    EXPECT_GE(planted.found_5 / planted.series, 0.95);
}

TEST(Trend, APlantedChangeOfTheCodeIsARegressionAndAnImprovementIsNot) {
    SyntheticNights what = quiet();
    what.planted = 0.03;
    const SyntheticHistory made = synthetic_history(what);
    const Trend slower = find_trend(made.history, default_policy(), last_night);
    EXPECT_EQ(only_change(slower).causes, std::vector{Cause::code});
    EXPECT_EQ(static_cast<int>(only_change(slower).point.night), made.planted_at);
    EXPECT_TRUE(slower.regression());
    what.planted = -0.03;
    const SyntheticHistory better = synthetic_history(what);
    const Trend faster = find_trend(better.history, default_policy(), last_night);
    EXPECT_LT(only_change(faster).own.size, 0);
    EXPECT_FALSE(faster.regression());
}

TEST(Trend, FloorAndCopyAreNoRegression) {
    SyntheticHistory floor = synthetic_history(quiet());
    SyntheticHistory copy = floor;
    for (std::size_t i = 40; i < 60; ++i) {
        HistoryTimes& a = floor.history.series[0].nights[i].times;
        a.floor_us += 0.6;
        a.p50_us += 0.6;
        a.copy_us += 0.6;
        HistoryTimes& b = copy.history.series[0].nights[i].times;
        b.p50_us *= 1.05;
        b.copy_us *= 1.05;
    }
    const Trend of_floor = find_trend(floor.history, default_policy(), last_night);
    EXPECT_EQ(only_change(of_floor).causes, std::vector{Cause::floor});
    EXPECT_NEAR(only_change(of_floor).floor_us, 0.6, 0.01);
    EXPECT_FALSE(of_floor.regression());
    const Trend of_copy = find_trend(copy.history, default_policy(), last_night);
    EXPECT_EQ(only_change(of_copy).causes, std::vector{Cause::copy});
    EXPECT_NEAR(only_change(of_copy).copy, std::log(1.05), 0.006);
    EXPECT_FALSE(of_copy.regression());
}

TEST(Trend, WhatTheFloorDoesNotExplainIsTheCodes) {
    SyntheticNights what = quiet();
    what.planted = 0.04;
    SyntheticHistory made = synthetic_history(what);
    for (std::size_t i = static_cast<std::size_t>(made.planted_at); i < 60; ++i) {
        HistoryTimes& times = made.history.series[0].nights[i].times;
        times.floor_us += 0.5;
        times.p50_us += 0.5;
        times.copy_us += 0.5;
    }
    const Trend trend = find_trend(made.history, default_policy(), last_night);
    EXPECT_EQ(only_change(trend).causes, std::vector{Cause::code});
    EXPECT_NEAR(only_change(trend).own.size, std::log(1 + 0.04 * 10 / 11), 0.006) << "of 10 µs above a floor of 1 µs";
    EXPECT_TRUE(trend.regression());
}

TEST(Trend, ADriverThatChangesWithTheCodeIsToldByKernelsWhoseCodeDidNot) {
    SyntheticNights what = quiet();
    what.problems = 6;
    SyntheticHistory both = synthetic_history(what);
    for (std::size_t i = 40; i < 60; ++i) {
        both.history.runs[i].driver = "590";
        both.history.series[0].nights[i].code = static_cast<std::uint32_t>(both.history.codes.size());
    }
    both.history.codes.push_back("new build");
    SyntheticHistory alone = both;
    slow_down(both.history, 40, 1.04);  // all of them: the driver's
    const Trend of_driver = find_trend(both.history, default_policy(), last_night);
    EXPECT_EQ(only_change(of_driver).causes, std::vector{Cause::driver});
    EXPECT_EQ(only_change(of_driver).with_it, 6U);
    EXPECT_FALSE(of_driver.regression());
    Policy across = default_policy();
    across.across = {Facet::driver};
    EXPECT_TRUE(find_trend(both.history, across, last_night).regression());
    for (std::size_t i = 40; i < 60; ++i) {
        alone.history.series[0].nights[i].times.p50_us *= 1.04;
    }
    const Trend of_code = find_trend(alone.history, default_policy(), last_night);
    EXPECT_EQ(only_change(of_code).causes, std::vector{Cause::code});
    EXPECT_TRUE(of_code.regression());
}

TEST(Trend, WithoutACauseItIsTheMachineOrUnknown) {
    SyntheticHistory made = synthetic_history(quiet());
    slow_down(made.history, 40, 1.05);
    const Trend machine = find_trend(made.history, default_policy(), last_night);
    EXPECT_EQ(only_change(machine).causes, std::vector{Cause::machine});
    EXPECT_FALSE(machine.regression());
    for (HistoryNight& night : made.history.series[0].nights) {
        night.code = 0;
    }
    const Trend revision = find_trend(made.history, default_policy(), last_night);
    EXPECT_EQ(only_change(revision).causes, std::vector{Cause::revision});
    EXPECT_TRUE(revision.regression());
    for (HistoryRun& run : made.history.runs) {
        run.revision.clear();
    }
    const Trend unknown = find_trend(made.history, default_policy(), last_night);
    EXPECT_EQ(only_change(unknown).causes, std::vector{Cause::unknown});
    EXPECT_TRUE(unknown.regression());
}

TEST(Trend, ThePolicysThresholdsAndKnownRegressionsHold) {
    SyntheticNights what = quiet();
    what.planted = 0.03;
    const SyntheticHistory made = synthetic_history(what);
    Policy policy = default_policy();
    policy.thresholds.push_back({PairPattern{}, 0.05});
    EXPECT_FALSE(find_trend(made.history, policy, last_night).regression());
    policy = default_policy();
    PairPattern pattern;
    pattern.problem = "rms_norm/forward/*";
    pattern.cols = 4096;
    policy.known.push_back({pattern, "2026-12-31", "issue 812"});
    const Trend known = find_trend(made.history, policy, last_night);
    EXPECT_FALSE(known.regression());
    EXPECT_NE(known.series[0].known.find("issue 812"), std::string::npos);
    EXPECT_TRUE(std::ranges::none_of(known.remarks, [](const std::string& it) { return it.find("issue 812") != std::string::npos; }));
    const Trend run_out = find_trend(made.history, policy, "2027-01-01");
    EXPECT_TRUE(run_out.regression());
    EXPECT_EQ(std::ranges::count(run_out.remarks, "a known regression (issue 812) was known until 2026-12-31 and is no longer excused"), 1);
    policy.metrics = {Metric::memory};
    EXPECT_THROW(find_trend(made.history, policy, last_night), InputError);
}

TEST(Trend, SmallStepsAddUpAndWhatComesBackIsForgotten) {
    SyntheticNights what = quiet();
    what.nights = 100;
    what.deviation = 0.0005;
    SyntheticHistory made = synthetic_history(what);
    for (HistoryNight& night : made.history.series[0].nights) {
        night.code = 0;
    }
    slow_down(made.history, 30, 1.013);
    EXPECT_FALSE(find_trend(made.history, default_policy(), last_night).regression());
    slow_down(made.history, 60, 1.013);
    EXPECT_TRUE(find_trend(made.history, default_policy(), last_night).regression());
    slow_down(made.history, 85, 1 / 1.026);
    EXPECT_FALSE(find_trend(made.history, default_policy(), last_night).regression());
}

TEST(Trend, ASeriesThatTheNewestRunLacksIsNoRegressionOfIt) {
    SyntheticNights what = quiet();
    what.problems = 2;
    what.planted = 0.05;
    SyntheticHistory made = synthetic_history(what);
    made.history.series[0].nights.pop_back();
    made.history.series[1].nights.resize(5);
    made.history.series[1].nights.push_back({59, 1, made.history.series[0].nights[0].times});
    const Trend trend = find_trend(made.history, default_policy(), last_night);
    EXPECT_FALSE(trend.series[0].in_newest);
    EXPECT_FALSE(trend.regression());
    EXPECT_EQ(trend.too_short, 1U);
    EXPECT_EQ(trend.remarks.size(), 2U);
}

TEST(Trend, WhatTheNewestRunDoesNotHaveIsNoRegressionOfIt) {
    SyntheticNights what = quiet();
    what.planted = 0.03;
    SyntheticHistory made = synthetic_history(what);
    EXPECT_TRUE(find_trend(made.history, default_policy(), last_night).regression());
    made.history.runs.push_back(made.history.runs.back());
    made.history.runs.back().started = "2026-11-21T02:00:00Z";
    made.history.newest[made.history.series[0].device] = 60;  // by trials that were not asked for
    const Trend trend = find_trend(made.history, default_policy(), last_night);
    EXPECT_FALSE(trend.regression());
    EXPECT_EQ(trend.not_in_newest, made.history.series.size());
}

TEST(Trend, TheNewestNightIsAllRunsThatBeganThen) {
    SyntheticNights what = quiet();
    what.problems = 2;
    what.planted = 0.05;
    SyntheticHistory made = synthetic_history(what);
    History& history = made.history;
    std::vector<HistoryRun> runs;  // two devices of one name each night, each with one of the series
    for (const HistoryRun& run : history.runs) {
        runs.push_back(run);
        runs.push_back(run);
        runs.back().device_id = "GPU-2";
    }
    history.runs = runs;
    for (std::uint32_t s = 0; s < 2; ++s) {
        for (HistoryNight& night : history.series[s].nights) {
            night.run = 2 * night.run + s;
        }
    }
    history.newest[history.series[0].device] = static_cast<std::uint32_t>(runs.size() - 1);
    const Trend trend = find_trend(history, default_policy(), last_night);
    EXPECT_EQ(trend.not_in_newest, 0U);
    EXPECT_TRUE(trend.series[0].regression);
    EXPECT_TRUE(trend.series[1].regression);
}

TEST(Trend, WinnersAreOfAllNightsBeforeTheNewestAreTaken) {
    SyntheticHistory made = synthetic_history(quiet());
    made.history.series.resize(1);
    HistorySeries gone = made.history.series[0];
    gone.trial.configuration = "w8.t256.r1.row.registers.even.per_row";
    gone.nights.resize(15);
    for (HistoryNight& night : gone.nights) {
        night.times.p50_us *= 2;
    }
    made.history.series.insert(made.history.series.begin(), gone);
    const History winners = winners_of(made.history, 20);
    ASSERT_EQ(winners.series.size(), 1U);
    ASSERT_EQ(winners.series[0].nights.size(), 20U);
    EXPECT_EQ(winners.series[0].nights.front().run, 40U);
}

TEST(Trend, WinnersAreOneSeriesAProblem) {
    SyntheticHistory made = synthetic_history(quiet());
    HistorySeries other = made.history.series[0];
    other.trial.configuration = "w8.t256.r1.row.registers.even.per_row";
    for (std::size_t i = 0; i < 60; ++i) {
        other.nights[i].times.rank = i < 40 ? 2 : 1;
        made.history.series[0].nights[i].times.rank = i < 40 ? 1 : 2;
        other.nights[i].times.p50_us *= 1.1;  // a winner is what the finals ranked first
    }
    made.history.series.push_back(other);
    const History winners = winners_of(made.history);
    ASSERT_EQ(winners.series.size(), 1U);
    const Trend trend = find_trend(winners, default_policy(), last_night);
    EXPECT_EQ(only_change(trend).point.night, 40U);
    EXPECT_EQ(only_change(trend).causes, std::vector{Cause::code});
    EXPECT_NE(only_change(trend).changed.at(0).after.find("w8.t256"), std::string::npos);
}

}  // namespace
}  // namespace normtune
