#include "run/remeasure.h"

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "judge/audit.h"
#include "judge/fit.h"
#include "report/winners.h"
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
            record.compile->code_hash += " slower";
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

/// A race in which one trial takes 50 us and all others 70, and what drops them after two rounds.
Results raced(const TemporaryFolder& folder) {
    RecordingSink sink;
    SweepOptions options =
        small_sweep(folder, "noise: {sigma: 0.002}\ntimings:\n  - {config: '*.r4.*', us: 50}\n  - {config: '*', us: 70}\n");
    options.strategy = find_strategy("racing");
    options.problems.push_back(testing::small_problem(512, 2048));
    return run_sweep(options, sink).results;
}

std::vector<ThumbRule> rules_of_thumb() {
    std::vector<ThumbRule> out = named_thumb_rules();
    out.push_back(ThumbRule::parse("one_row=rows_per_program == 1"));
    return out;
}

TEST(JudgedRace, WhatWasDroppedIsALossAndBestSaysTheSame) {
    const TemporaryFolder folder;
    const Results results = raced(folder);
    const Audit audited = audit({&results, 1}, rules_of_thumb(), {});
    const std::vector<Winner> winners = find_winners(results);
    ASSERT_EQ(winners.size(), 2U);
    for (std::size_t p = 0; p < winners.size(); ++p) {
        const Standing& one_row = *audited.problems[p].heuristics.back().best;
        EXPECT_NEAR(one_row.loss(), 0.4, 0.02);
        EXPECT_TRUE(one_row.dropped);
        EXPECT_LT(one_row.low, 1.4);
        EXPECT_GT(one_row.high, 1.4);
        ASSERT_EQ(winners[p].over_heuristics.size() + 1, audited.problems[p].heuristics.size());
        for (std::size_t i = 0; i < winners[p].over_heuristics.size(); ++i) {
            const Standing* const best = audited.problems[p].heuristics[i].best;
            EXPECT_EQ(winners[p].over_heuristics[i].ratio, best == nullptr ? std::nullopt : std::optional(best->ratio));
        }
    }
    EXPECT_EQ(wanted_again(audited).size(), 2U);
}

TEST(JudgedRace, WhatALossRestsOnIsMeasuredAgain) {
    const TemporaryFolder folder;
    const Results results = raced(folder);
    DeviceWish device;
    device.backend = Backend::replay;
    device.replay_script =
        folder.write("fresh.yaml", "noise: {sigma: 0.002}\ntimings:\n  - {config: '*.r4.*', us: 50}\n  - {config: '*', us: 60}\n");
    Audit audited;
    int asked = 0;
    judge_measuring({&results, 1}, device, {"normtune", "audit", "--measure"}, silent(), [&](std::span<const Results> fresh) {
        audited = audit({&results, 1}, rules_of_thumb(), {}, fresh);
        ++asked;
        return wanted_again(audited);
    });
    EXPECT_GE(asked, 2);
    EXPECT_LE(asked, 8);
    for (const ProblemAudit& problem : audited.problems) {
        const Standing& one_row = *problem.heuristics.back().best;
        EXPECT_NEAR(one_row.loss(), 0.2, 0.01);
        EXPECT_FALSE(one_row.dropped);
        EXPECT_LT(one_row.high - one_row.low, 0.01);
    }
    device.replay_script = folder.write("other.yaml", "device: {name: another}\n");
    EXPECT_THROW(judge_measuring({&results, 1}, device, {}, silent(),
                                 [&](std::span<const Results>) {
                                     return wanted_again(audit({&results, 1}, rules_of_thumb(), {}));
                                 }),
                 InputError);
}

// One configuration for all shapes would lose 40%: a race that dropped it is no reason to say 0.
TEST(JudgedRace, ALadderRestsOnEstimates) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = small_sweep(folder,
                                       "noise: {sigma: 0.002}\ntimings:\n  - {config: '*.r4.*', problem: '*/256x1024', us: 50}\n"
                                       "  - {config: '*.r8.*', problem: '*/512x2048', us: 50}\n  - {config: '*', us: 70}\n");
    options.strategy = find_strategy("racing");
    options.problems.push_back(testing::small_problem(512, 2048));
    const Results results = run_sweep(options, sink).results;
    FitSettings settings;
    settings.hold_out = HoldOut::parse("none");
    const Fits two = fit({&results, 1}, settings, backend_traits(Backend::replay));
    EXPECT_EQ(two.fits[0].ladder->steps(), 2U);
    settings.most_steps = 1;
    const Fits one = fit({&results, 1}, settings, backend_traits(Backend::replay));
    EXPECT_NEAR(one.fits[0].on_fitted.worst, 0.4, 0.02);
    EXPECT_FALSE(one.fits[0].within);
    EXPECT_EQ(one.fits[0].dropped, 1U);
    EXPECT_EQ(wanted_again(one).size(), 1U);
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
