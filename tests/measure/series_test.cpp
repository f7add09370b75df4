#include "measure/series.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

SampleBatch batch_of(std::vector<double> us, std::vector<std::string> throttle = {}) {
    SampleBatch batch;
    batch.us = std::move(us);
    batch.timer = "events";
    batch.throttle_reasons = std::move(throttle);
    return batch;
}

TEST(Series, QuantilesAreOverAllSamplesAndMediansByRound) {
    Series series;
    series.add(batch_of({1, 2, 3}));
    series.add(batch_of({4, 5, 6, 7}));
    const Measurement m = series.measurement();
    EXPECT_EQ(series.round_medians_us(), (std::vector<double>{2, 5.5}));
    EXPECT_EQ(m.samples, 7);
    EXPECT_DOUBLE_EQ(m.p50_us, 4);
    EXPECT_DOUBLE_EQ(m.p20_us, 2.2);
    EXPECT_DOUBLE_EQ(m.p80_us, 5.8);
    EXPECT_EQ(m.rounds.at(1).samples, 4);
    EXPECT_EQ(m.timer, "events");
    EXPECT_DOUBLE_EQ(series.spent_us(), 28);
}

TEST(Series, DiscardedRoundsCostTimeAndNothingElse) {
    Series series;
    SampleBatch slow = batch_of({100, 100}, {"power cap", "heat"});
    slow.launches_per_sample = 3;
    series.discard(slow);
    series.discard(batch_of({50}, {"heat"}));
    series.add(batch_of({2}, {"heat"}));
    const Measurement m = series.measurement();
    EXPECT_EQ(m.throttled_repeats, 2);
    EXPECT_EQ(m.throttle_reasons, (std::vector<std::string>{"power cap", "heat"}));
    EXPECT_DOUBLE_EQ(m.p80_us, 2);
    EXPECT_TRUE(m.rounds.at(0).throttled);
    EXPECT_DOUBLE_EQ(series.spent_us(), 652);
}

TEST(Series, ClocksAreMediansOverRoundsAndMovesAreMarkedInTheirRounds) {
    Series series;
    for (const double mhz : {1980, 1965, 1410}) {
        SampleBatch batch = batch_of({1});
        batch.clock_mhz = mhz;
        batch.memory_clock_mhz = mhz + 600;
        batch.clocks_moved = mhz == 1410;
        batch.clock_before_mhz = 1980;
        batch.memory_clock_before_mhz = 2580;
        series.add(batch);
    }
    const Measurement m = series.measurement();
    EXPECT_EQ(m.clock_mhz, 1965);
    EXPECT_EQ(m.memory_clock_mhz, 2565);
    EXPECT_FALSE(m.rounds.at(1).clocks_moved);
    EXPECT_TRUE(m.rounds.at(2).clocks_moved);
    EXPECT_EQ(m.rounds.at(2).clock_mhz, (std::vector<double>{1980, 1410}));
    EXPECT_EQ(m.rounds.at(2).memory_clock_mhz, (std::vector<double>{2580, 2010}));
    EXPECT_TRUE(m.rounds.at(1).clock_mhz.empty()) << "the trial's say it";
}

TEST(Series, SummaryNeedsNoLimit) {
    Problem problem;
    problem.shape = {1000, 1000, 1000};
    Series kernel;
    kernel.add(batch_of({8}));
    MeasurementContext context;
    context.problem = &problem;
    context.workspace_bytes = 100;
    const Measurement alone = summarise(kernel, {}, {}, context);
    EXPECT_EQ(alone.limit_us, 0);
    EXPECT_EQ(alone.limit_ratio, 0);
    EXPECT_DOUBLE_EQ(alone.gbps, static_cast<double>(least_bytes(problem)) / 8e3);
    EXPECT_EQ(alone.memory_bytes, tensor_bytes(problem) + 100);
    Series copy;
    SampleBatch copied = batch_of({4});
    copied.copy = "2 threads";
    copy.add(copied);
    EXPECT_DOUBLE_EQ(summarise(kernel, copy, {}, context).limit_ratio, 2);
    EXPECT_EQ(summarise(kernel, copy, {}, context).limit_copy, "2 threads");
    Series empty;
    empty.add(batch_of({0.5, 0.75}));
    EXPECT_DOUBLE_EQ(summarise(kernel, copy, empty, context).floor_us, 0.625);
}

}  // namespace
}  // namespace normtune
