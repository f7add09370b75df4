// Racing, seen from the records of a sweep.
#include <gtest/gtest.h>

#include <chrono>

#include <fmt/format.h>

#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "support/pattern.h"

namespace normtune {
namespace {

using testing::by_rows;
using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

constexpr const char* one_winner = R"(
noise: {sigma: 0.005}
timings:
  - {config: '*.r4.*', us: 200}
  - {config: '*.r2.*', us: 202}
  - {config: '*.r32.*', us: 800}
  - {config: '*', us: 240}
)";

const std::vector<AxisValues> more_than_a_race{{Axis::rows_per_program, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
                                               {Axis::stages, {1, 2}},
                                               {Axis::gamma, {0, 1, 2}},
                                               {Axis::grid, {static_cast<int>(Grid::packed)}}};

SweepOptions race(const TemporaryFolder& folder, const char* script, const char* out = "out") {
    SweepOptions options = small_sweep(folder, script, out);
    options.strategy = find_strategy("racing");
    return options;
}

TEST(Racing, FindsTheWinnerAndDropsWhoIsSlower) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const auto records = by_rows(run_sweep(race(folder, one_winner), sink));
    EXPECT_EQ(records.at("r4").measurement->rank, 1);
    EXPECT_EQ(records.at("r4").measurement->final_rounds_us.size(), 12U);
    for (const char* slower : {"r1", "r8", "r16", "r32"}) {
        const Record& record = records.at(slower);
        EXPECT_EQ(record.outcome, Outcome::passed);
        EXPECT_EQ(record.measurement->stop_reason, StopReason::dropped) << slower;
        EXPECT_LT(record.measurement->rounds.size(), 6U);
        EXPECT_EQ(record.measurement->rank, 0);
        EXPECT_GT(record.measurement->limit_us, 0);
    }
    EXPECT_EQ(records.at("r32").measurement->rounds.size(), 1U);
    // A round ends after 100 us of device time: one sample here.
    EXPECT_EQ(records.at("r4").measurement->samples, static_cast<int>(records.at("r4").measurement->rounds.size()));
}

TEST(Racing, TheSameSeedRacesAlike) {
    const TemporaryFolder folder;
    const auto run = [&](const char* out) {
        RecordingSink sink;
        return by_rows(run_sweep(race(folder, one_winner, out), sink));
    };
    const auto first = run("a");
    const auto second = run("b");
    ASSERT_EQ(second.size(), first.size());
    ASSERT_GE(second.size(), 5U);
    for (const auto& [name, record] : second) {
        EXPECT_EQ(record.measurement->rounds, first.at(name).measurement->rounds) << name;
        EXPECT_EQ(record.measurement->final_rounds_us, first.at(name).measurement->final_rounds_us) << name;
    }
}

TEST(Racing, LaterRacesMeetTheBestOfTheEarlierOnes) {
    const TemporaryFolder folder;
    SweepOptions options = race(folder,
                                "noise: {sigma: 0.003}\ntimings: [{config: 'w4.*.r3.*.gamma_before*', us: 90}, "
                                "{config: '*', us: 120, spread: 0.3}]\n");
    options.space.axes = more_than_a_race;
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    ASSERT_GT(result.results.records.size(), 64U);  // more than race at a time
    std::size_t dropped = 0;
    for (const Record& record : result.results.records) {
        dropped += record.measurement->stop_reason == StopReason::dropped ? 1U : 0U;
        if (record.measurement->rank == 1) {
            EXPECT_EQ(record.candidate.configuration()->rows_per_program, 3) << record.candidate.identity();
            EXPECT_EQ(record.candidate.configuration()->gamma, GammaPlacement::before);
        }
    }
    EXPECT_GT(dropped, result.results.records.size() * 3 / 4);
}

TEST(Racing, TheWinnerOfALaterRaceIsInTheFinalsWhateverDrifts) {
    for (const char* fast :
         {"w4.*.r3.*.gamma_before.s2*", "w4.*.r7.*.gamma_hoisted.s2*", "w4.*.r11.*.gamma_before.s2*", "w4.*.r16.*.gamma_before.s2*"}) {
        const TemporaryFolder folder;
        SweepOptions options =
            race(folder, fmt::format("noise: {{kind: normal, sigma: 0.003}}\ndrift: {{amplitude: 0.15, period_samples: 14000}}\n"
                                     "timings: [{{config: '{}', us: 9.7}}, {{config: '*', us: 10}}]\n",
                                     fast)
                             .c_str());
        options.space.axes = more_than_a_race;
        RecordingSink sink;
        const SweepResult result = run_sweep(options, sink);
        for (const Record& record : result.results.records) {
            if (record.measurement && record.measurement->rank == 1) {
                EXPECT_TRUE(matches_pattern(fast, record.candidate.identity())) << record.candidate.identity() << ", not " << fast;
            }
        }
    }
}

TEST(Racing, OneConfigurationAloneIsMeasuredInFull) {
    const TemporaryFolder folder;
    SweepOptions options = race(folder, one_winner);
    options.space.axes.front().values = {4};
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    EXPECT_EQ(records.at("r4").measurement->samples, 5 * static_cast<int>(records.at("r4").measurement->rounds.size()));
}

TEST(Racing, WhatFailsInARaceIsRecordedAndTheRaceGoesOn) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const auto records = by_rows(run_sweep(race(folder, R"(
timings: [{config: '*.r4.*', us: 100}, {config: '*', us: 101}]
faults: [{config: '*.r2.*', at: measure, do: bad_sample, from: 3}, {config: '*.r8.*', at: compile, do: crash}]
)"),
                                           sink));
    EXPECT_EQ(records.at("r2").outcome, Outcome::launch_failed);
    EXPECT_EQ(records.at("r8").outcome, Outcome::crashed);
    EXPECT_TRUE(records.at("r4").measurement);
}

TEST(Racing, ABudgetIsKeptSharedAndItsRestResumed) {
    const TemporaryFolder folder;
    SweepOptions options = race(folder, "delays: {sample_ms: 1, compile_ms: 100}\n");
    options.problems = {small_problem(256), small_problem(512), small_problem(1024)};
    options.budget_s = 1.2;
    RecordingSink sink;
    const auto begin = std::chrono::steady_clock::now();
    const SweepResult result = run_sweep(options, sink);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 20.0);  // a busy machine's; what is left out shows that it was kept
    EXPECT_LT(result.results.records.size(), 18U);
    EXPECT_FALSE(sink.warnings.empty());
    SweepOptions rest = options_from_journal(options.out_folder);
    EXPECT_EQ(rest.strategy, find_strategy("racing"));
    rest.budget_s = 0;
    const SweepResult all = run_sweep(rest, sink);
    EXPECT_EQ(all.results.records.size(), 18U);
    std::size_t winners = 0;
    for (const Record& record : all.results.records) {
        winners += record.measurement->rank == 1 ? 1U : 0U;
    }
    EXPECT_EQ(winners, 3U);
}

TEST(Racing, FinalsThatATrialCameAfterAreStale) {
    const TemporaryFolder folder;
    const SweepOptions options = race(folder, one_winner);
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    JournalContents contents;
    Journal::resume(options.out_folder, contents).append(result.results.records.front());
    const JournalContents read = read_journal(options.out_folder);
    ASSERT_EQ(read.finals.size(), 1U);
    EXPECT_TRUE(read.finals.front().stale);
}

}  // namespace
}  // namespace normtune
