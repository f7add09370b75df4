#include "run/remeasure.h"

#include <gtest/gtest.h>

#include "run/sweep_fixture.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_sweep;
using testing::TemporaryFolder;

MakeSink silent() {
    return [] { return std::make_unique<RecordingSink>(); };
}

TEST(RepeatSweep, SweepsTheSameAgainAndOnceWithTwins) {
    const TemporaryFolder folder;
    const RepeatedSweeps repeated = repeat_sweep(small_sweep(folder, "noise: {sigma: 0.01}\n"), 2, folder.path("runs"), silent());
    EXPECT_FALSE(repeated.interrupted);
    ASSERT_EQ(repeated.sweeps.size(), 2U);
    ASSERT_EQ(repeated.twins.size(), 2U);
    for (const ResultRows* rows : {&repeated.sweeps[0], &repeated.sweeps[1], &repeated.twins[0], &repeated.twins[1]}) {
        EXPECT_EQ(rows->rows.size(), 6U) << rows->name;
    }
    for (const char* name : {"sweep-1", "sweep-2", "twins", "twins-second"}) {
        EXPECT_TRUE(std::filesystem::exists(folder.path("runs") + "/" + name + "/results.json")) << name;
    }
}

/// A gate on two sweeps of the replay device, of which the second was slower throughout.
struct SlowerGate {
    explicit SlowerGate(const TemporaryFolder& folder) {
        RecordingSink sink;
        before = rows_of(run_sweep(small_sweep(folder, "noise: {sigma: 0.002}\n", "before"), sink).results, "before");
        Results slow = run_sweep(small_sweep(folder, "noise: {sigma: 0.002}\nseed: 2\n", "after"), sink).results;
        for (Record& record : slow.records) {
            for (Round& round : record.measurement->rounds) {
                round.median_us *= 1.5;
            }
            record.measurement->p50_us *= 1.5;
        }
        after = rows_of(slow, "after");
        after.format = ResultFormat::results_json;
        comparisons.push_back(compare(before, after, policy.settings(Metric::latency)));
        verdict = judge_gate(policy, comparisons, "2026-11-21");
    }
    Policy policy;
    ResultRows before;
    ResultRows after;
    std::vector<Comparison> comparisons;
    GateVerdict verdict;
};

TEST(ConfirmSuspects, WhatAFreshMeasurementDoesNotFindPasses) {
    const TemporaryFolder folder;
    SlowerGate gate(folder);
    ASSERT_EQ(gate.verdict.result, GateResult::fail);
    DeviceWish device;
    device.backend = Backend::replay;
    device.replay_script = folder.write("fresh.yaml", "noise: {sigma: 0.002}\nseed: 3\n");
    confirm_suspects(gate.verdict, gate.policy, gate.before, device, silent());
    EXPECT_EQ(gate.verdict.count(GateResult::fail), 0U);
    EXPECT_NE(gate.verdict.cases.front().reason.find("not confirmed by fresh rounds"), std::string::npos);
}

TEST(ConfirmSuspects, WithoutSuspectsNoDeviceIsAskedFor) {
    const TemporaryFolder folder;
    SlowerGate gate(folder);
    GateVerdict nothing;
    DeviceWish none;
    none.backend = Backend::replay;  // and no script: choosing it would throw
    EXPECT_NO_THROW(confirm_suspects(nothing, gate.policy, gate.before, none, silent()));
    EXPECT_THROW(confirm_suspects(gate.verdict, gate.policy, gate.before, none, silent()), InputError);
}

}  // namespace
}  // namespace normtune
