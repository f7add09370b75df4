// Whatever happens to a trial ends as that trial's outcome, and the sweep goes on.
#include <gtest/gtest.h>

#include <fstream>

#include "run/sweep_fixture.h"

namespace normtune {
namespace {

using testing::by_rows;
using testing::RecordingSink;
using testing::small_sweep;
using testing::TemporaryFolder;

struct FaultCase {
    const char* name;
    const char* fault;  // of trial r4, in the script's words
    Outcome outcome;
    const char* reason_has;
};

class Faults : public ::testing::TestWithParam<FaultCase> {};

TEST_P(Faults, EndAsTheirOwnOutcomeWhileTheOthersPass) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, std::string("faults:\n  - {config: '*.r4.*', ") + GetParam().fault + "}\n");
    options.trial_timeout_s = std::string(GetParam().fault).find("hang") == std::string::npos ? 20 : 1;
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    const auto records = by_rows(result);
    ASSERT_EQ(records.size(), 6U);
    for (const auto& [rows, record] : records) {
        if (rows == "r4") {
            EXPECT_EQ(outcome_names.name(record.outcome), outcome_names.name(GetParam().outcome));
            EXPECT_NE(record.reason.find(GetParam().reason_has), std::string::npos) << record.reason;
            EXPECT_FALSE(record.measurement && record.measurement->rank > 0);
        } else {
            EXPECT_EQ(record.outcome, Outcome::passed) << rows << ": " << record.reason;
            EXPECT_TRUE(record.measurement);
        }
    }
    const bool crashed = GetParam().outcome == Outcome::crashed || GetParam().outcome == Outcome::timed_out;
    EXPECT_EQ(result.crashed, crashed ? 1U : 0U);
    EXPECT_EQ(result.incorrect, GetParam().outcome == Outcome::incorrect ? 1U : 0U);
    EXPECT_FALSE(result.interrupted);
}

INSTANTIATE_TEST_SUITE_P(
    AllKinds, Faults,
    ::testing::Values(FaultCase{"crash_compiling", "at: compile, do: crash", Outcome::crashed, "SIGSEGV"},
                      FaultCase{"abort_verifying", "at: verify, do: crash, signal: SIGABRT", Outcome::crashed, "SIGABRT"},
                      FaultCase{"crash_measuring", "at: measure, do: crash, signal: SIGFPE, from: 3", Outcome::crashed, "SIGFPE"},
                      FaultCase{"exit_compiling", "at: compile, do: exit, status: 3", Outcome::crashed, "status 3"},
                      FaultCase{"exit_measuring_with_0", "at: measure, do: exit, status: 0", Outcome::crashed, "status 0"},
                      FaultCase{"hang_compiling", "at: compile, do: hang", Outcome::timed_out, "within 1 s"},
                      FaultCase{"hang_measuring", "at: measure, do: hang, from: 2", Outcome::timed_out, "within 1 s"},
                      FaultCase{"wrong", "at: verify, do: incorrect, text: y is off", Outcome::incorrect, "y is off"},
                      FaultCase{"wrong_later", "at: check, do: incorrect, text: y went off", Outcome::incorrect, "y went off"},
                      FaultCase{"unsupported", "at: compile, do: unsupported, text: no such thing", Outcome::unsupported, "no such"},
                      FaultCase{"does_not_compile", "at: compile, do: compile_failed, text: line 3", Outcome::compile_failed, "line 3"},
                      FaultCase{"does_not_launch", "at: verify, do: launch_failed", Outcome::launch_failed, "scripted"},
                      FaultCase{"launch_fails_late", "at: measure, do: launch_failed, from: 4", Outcome::launch_failed, "scripted"},
                      FaultCase{"out_of_memory", "at: compile, do: out_of_memory", Outcome::out_of_memory, "scripted"},
                      FaultCase{"out_of_memory_late", "at: measure, do: out_of_memory", Outcome::out_of_memory, "scripted"},
                      FaultCase{"bad_alloc", "at: compile, do: bad_alloc", Outcome::out_of_memory, "memory"},
                      FaultCase{"throws", "at: compile, do: throw, text: oh no", Outcome::crashed, "oh no"},
                      FaultCase{"not_a_time", "at: measure, do: bad_sample", Outcome::launch_failed, "nan as a time"}),
    [](const auto& case_info) { return std::string(case_info.param.name); });

TEST(Faults, WhatTheWorkerPrintsGoesToItsLogAndIntoTheReasonOfItsDeath) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, R"(
faults:
  - {config: '*.r8.*', at: compile, do: print, text: "{\"is\": \"built\"}"}
  - {config: '*.r8.*', at: verify, do: crash, signal: SIGABRT}
)");
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    EXPECT_EQ(records.at("r8").outcome, Outcome::crashed);
    EXPECT_NE(records.at("r8").reason.find(R"(it said: {"is": "built"})"), std::string::npos) << records.at("r8").reason;
    EXPECT_EQ(records.at("r4").outcome, Outcome::passed);
    std::ifstream log(folder.path("out/worker.log"));
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, R"({"is": "built"})");
}

TEST(Faults, ThrottledRoundsAreRepeatedAndCountedAndThenKept) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, R"(
faults:
  - {config: '*.r2.*', at: measure, do: throttle, text: power cap, times: 2}
  - {config: '*.r4.*', at: measure, do: throttle, text: heat}
)");
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    const Measurement& twice = *records.at("r2").measurement;
    EXPECT_EQ(twice.throttled_repeats, 2);
    EXPECT_EQ(twice.throttle_reasons, std::vector<std::string>{"power cap"});
    for (const Round& round : twice.rounds) {
        EXPECT_FALSE(round.throttled);
    }
    const Measurement& always = *records.at("r4").measurement;
    EXPECT_EQ(records.at("r4").outcome, Outcome::passed);
    EXPECT_EQ(always.throttled_repeats, 4);
    EXPECT_TRUE(always.rounds.front().throttled);
    EXPECT_EQ(records.at("r1").measurement->throttled_repeats, 0);
}

TEST(Faults, ACopyThatCannotBeMeasuredLeavesTheTrialsWithoutALimit) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, "faults: [{at: copy, do: crash}]\n");
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    EXPECT_EQ(records.at("r4").outcome, Outcome::passed);
    EXPECT_EQ(records.at("r4").measurement->limit_ratio, 0);
    const std::string& why = records.at("r4").measurement->limit_copy;
    EXPECT_TRUE(why.starts_with("failed: ") && why.size() > 8) << "said in the results, too: a quiet sweep has no warnings";
    ASSERT_EQ(sink.warnings.size(), 2U);
    EXPECT_NE(sink.warnings[0].find("copy limit is measured again"), std::string::npos) << sink.warnings[0];
    EXPECT_NE(sink.warnings[1].find("copy limit cannot be measured"), std::string::npos) << sink.warnings[1];
}

TEST(Faults, AnEmptyLaunchThatCannotBeMeasuredLeavesTheFinalsWithoutAFloor) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, "faults: [{at: empty, do: crash}]\n");
    RecordingSink sink;
    int winners = 0;
    for (const auto& [rows, record] : by_rows(run_sweep(options, sink))) {
        ASSERT_EQ(record.outcome, Outcome::passed) << rows;
        EXPECT_EQ(record.measurement->floor_us, 0) << rows;
        EXPECT_EQ(record.measurement->final_floor_us, std::nullopt) << rows;
        if (record.measurement->rank == 1) {
            ++winners;
            EXPECT_GE(record.measurement->final_rounds_us.size(), 12U);
        }
    }
    EXPECT_EQ(winners, 1);
    ASSERT_EQ(sink.warnings.size(), 3U);
    EXPECT_NE(sink.warnings[1].find("empty launch cannot be measured"), std::string::npos) << sink.warnings[1];
    EXPECT_NE(sink.warnings[2].find("empty launch cannot be measured in the finals"), std::string::npos) << sink.warnings[2];
}

TEST(Faults, ACopyThatFailsOnceIsMeasuredInTheSameRound) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "faults: [{at: copy, do: out_of_memory, text: full, times: 1}]\n");
    options.stop_rule.time_cap_us = 1;  // one round each
    RecordingSink sink;
    for (const auto& [rows, record] : by_rows(run_sweep(options, sink))) {
        ASSERT_TRUE(record.measurement) << rows;
        EXPECT_EQ(record.measurement->rounds.size(), 1U) << rows;
        EXPECT_GT(record.measurement->limit_ratio, 0) << rows;
    }
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_NE(sink.warnings[0].find("copy limit is measured again"), std::string::npos) << sink.warnings[0];
}

}  // namespace
}  // namespace normtune
