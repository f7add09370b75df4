#include "judge/gate.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "judge/synthetic_runs.h"
#include "report/gate_report.h"
#include "support/error.h"
#include "support/shipped.h"

namespace normtune {
namespace {

using testing::synthetic_results;
using testing::SyntheticSweep;

constexpr std::string_view today = "2026-11-21";

SyntheticSweep small_sweep(std::uint64_t seed) {
    SyntheticSweep sweep;
    sweep.problems = 6;
    sweep.configurations = 4;
    sweep.seed = seed;
    return sweep;
}

/// A policy judged on two runs, the second changed.
struct GateJudged {
    GateJudged(const std::string& yaml, const std::function<void(Results&)>& change)
        : policy(parse_policy(yaml, "policy.yaml")), before(rows_of(synthetic_results(small_sweep(1)), "before")) {
        Results results = synthetic_results(small_sweep(2));
        change(results);
        after = rows_of(results, "after");
        for (const Metric metric : policy.metrics) {
            comparisons.push_back(compare(before, after, policy.settings(metric)));
        }
        verdict = judge_gate(policy, comparisons, today);
    }
    Policy policy;
    ResultRows before;
    ResultRows after;
    std::vector<Comparison> comparisons;
    GateVerdict verdict;
};

void slow_down(Record& record, double factor) {
    for (Round& round : record.measurement->rounds) {
        round.median_us *= factor;
    }
    record.measurement->p50_us *= factor;
}

const std::string plain = "name: p\n";

TEST(Gate, EqualRunsPass) {
    const GateJudged it(plain, [](Results&) {});
    EXPECT_EQ(it.verdict.result, GateResult::pass);
    EXPECT_EQ(it.verdict.cases.size(), 48U);
}

TEST(Gate, ASlowdownFailsAndASpeedupNever) {
    const GateJudged slower(plain, [](Results& r) { slow_down(r.records[3], 1.2); });
    EXPECT_EQ(slower.verdict.result, GateResult::fail);
    EXPECT_EQ(slower.verdict.count(GateResult::fail), 1U);
    EXPECT_EQ(slower.verdict.cases[3].result, GateResult::fail);
    const GateJudged faster(plain, [](Results& r) { slow_down(r.records[3], 0.5); });
    EXPECT_EQ(faster.verdict.result, GateResult::pass);
}

TEST(Gate, MoreMemoryFailsHoweverLittleUnlessAllowed) {
    const auto more = [](Results& r) { r.records[0].measurement->memory_bytes += 4096; };
    EXPECT_EQ(GateJudged(plain, more).verdict.result, GateResult::fail);
    EXPECT_EQ(GateJudged("name: p\nmemory_percent: 1\n", more).verdict.result, GateResult::pass);
    EXPECT_EQ(GateJudged("name: p\nmetrics: [latency]\n", more).verdict.result, GateResult::pass);
}

TEST(Gate, TheFirstThresholdThatMatchesHolds) {
    const auto slow_hidden = [](Results& r) {
        slow_down(r.records[0], 1.1);  // forward, hidden, 1 row
        slow_down(r.records[4], 1.1);  // backward, q_norm, 2 rows
    };
    const auto failed = [&](const std::string& thresholds) {
        return GateJudged("name: p\nthresholds:\n" + thresholds, slow_hidden).verdict.count(GateResult::fail);
    };
    EXPECT_EQ(failed("  - {site: hidden, percent: 50}\n"), 1U);
    EXPECT_EQ(failed("  - {mode: backward, percent: 50}\n  - {problem: '*', percent: 50}\n"), 0U);
    EXPECT_EQ(failed("  - {problem: '*', percent: 1}\n  - {mode: backward, percent: 50}\n"), 2U);
    EXPECT_EQ(failed("  - {rows: 2, cols: 4096, percent: 50}\n"), 1U);
    EXPECT_EQ(failed("  - {problem: '*/forward/*', config: '*.r1.*', percent: 50}\n"), 1U);
    EXPECT_EQ(failed("  - {op: fused_add_rms_norm, percent: 50}\n"), 2U);
    EXPECT_EQ(failed("  - {metric: memory, percent: 50}\n"), 2U);
}

TEST(Gate, AThresholdThatNamesNoMetricIsOfLatency) {
    const auto more = [](Results& r) { r.records[0].measurement->memory_bytes += 4096; };
    EXPECT_EQ(GateJudged("name: p\nthresholds:\n  - {problem: '*', percent: 50}\n", more).verdict.result, GateResult::fail);
    EXPECT_EQ(GateJudged("name: p\nthresholds:\n  - {metric: memory, percent: 50}\n", more).verdict.result, GateResult::pass);
}

TEST(Gate, WhatARaceDroppedIsTold) {
    const GateJudged it("name: p\nmetrics: [latency]\n", [](Results& r) {
        for (std::size_t i = 0; i < 3; ++i) {
            slow_down(r.records[i], 1.5);
            r.records[i].measurement->stop_reason = StopReason::dropped;
        }
    });
    EXPECT_EQ(it.verdict.result, GateResult::pass);  // which trials are dropped differs from run to run
    ASSERT_EQ(it.verdict.remarks.size(), 1U);
    const std::string told = "3 trials are not compared, for a race dropped them (3 in the candidate alone";
    EXPECT_EQ(it.verdict.remarks[0].find(told), 0U) << it.verdict.remarks[0];
    EXPECT_NE(it.verdict.remarks[0].find("by: best in the gate's policy"), std::string::npos) << it.verdict.remarks[0];
    for (const std::string& report : {gate_sections(it.verdict).front().note, gate_markdown(it.verdict), gate_junit(it.verdict)}) {
        EXPECT_NE(report.find("3 trials are not compared"), std::string::npos) << report;
    }
}

TEST(Gate, WhatIsMissingFailedNewOrAmbiguousIsThePolicys) {
    const auto missing = [](Results& r) { r.records.erase(r.records.begin()); };
    const auto failed = [](Results& r) { r.records[0].outcome = Outcome::incorrect; };
    const auto added = [](Results& r) {
        r.records.push_back(r.records[0]);
        r.records.back().candidate.configuration()->num_warps = 32;
    };
    const auto unclear = [](Results& r) { r.records[0].measurement->timer = "events"; };
    EXPECT_EQ(GateJudged(plain, missing).verdict.result, GateResult::fail);
    EXPECT_EQ(GateJudged("name: p\nmissing: pass\n", missing).verdict.result, GateResult::pass);
    EXPECT_EQ(GateJudged("name: p\nmissing: inconclusive\n", missing).verdict.result, GateResult::inconclusive);
    EXPECT_EQ(GateJudged("name: p\nmissing: pass\n", failed).verdict.result, GateResult::fail);
    EXPECT_EQ(GateJudged("name: p\nfailed: pass\n", failed).verdict.result, GateResult::pass);
    EXPECT_EQ(GateJudged(plain, added).verdict.result, GateResult::pass);
    EXPECT_EQ(GateJudged("name: p\nnew: fail\n", added).verdict.result, GateResult::fail);
    EXPECT_EQ(GateJudged(plain, unclear).verdict.result, GateResult::inconclusive);
    EXPECT_EQ(GateJudged("name: p\nambiguous: pass\n", unclear).verdict.result, GateResult::pass);
}

TEST(Gate, AKnownRegressionIsExcusedUpToItsDay) {
    const auto slow = [](Results& r) { slow_down(r.records[3], 1.2); };
    const auto known = [](const std::string& until) {
        return "name: p\nknown:\n  - {problem: '*/1x4096', until: " + until + ", reason: a bug}\n";
    };
    const GateJudged held(known("2026-11-21"), slow);
    EXPECT_EQ(held.verdict.result, GateResult::pass);
    EXPECT_TRUE(held.verdict.cases[3].known);
    EXPECT_THROW(GateJudged(known("2026-02-29"), slow), InputError);  // no leap year
    const GateJudged over(known("2026-11-20"), slow);
    EXPECT_EQ(over.verdict.result, GateResult::fail);
    ASSERT_EQ(over.verdict.remarks.size(), 1U);
    EXPECT_NE(over.verdict.remarks[0].find("2026-11-20"), std::string::npos);
}

TEST(Gate, AMetricThatCannotBeComparedIsNoPass) {
    const GateJudged it(plain, [](Results& r) {
        for (Record& record : r.records) {
            record.measurement->cold = false;
        }
    });
    EXPECT_EQ(it.verdict.result, GateResult::inconclusive);
    ASSERT_EQ(it.verdict.remarks.size(), 1U);
    EXPECT_NE(it.verdict.remarks[0].find("across: [cold]"), std::string::npos);
}

TEST(Gate, ASuspectThatFreshRoundsDoNotConfirmPasses) {
    GateJudged it(plain, [](Results& r) {
        slow_down(r.records[3], 1.2);
        slow_down(r.records[7], 1.2);
    });
    ASSERT_EQ(it.verdict.count(GateResult::fail), 2U);
    Results again = synthetic_results(small_sweep(3));
    slow_down(again.records[7], 1.2);
    again.records = {again.records[3], again.records[7]};
    const ResultRows fresh = rows_of(again, "fresh");
    confirm(it.verdict, it.policy, compare(it.before, fresh, it.policy.settings(Metric::latency)));
    EXPECT_EQ(it.verdict.count(GateResult::fail), 1U);
    EXPECT_EQ(it.verdict.cases[3].result, GateResult::pass);
    EXPECT_NE(it.verdict.cases[3].reason.find("not confirmed"), std::string::npos);
    EXPECT_EQ(it.verdict.cases[7].result, GateResult::fail);
    EXPECT_EQ(it.verdict.result, GateResult::fail);
}

TEST(Policy, TheShippedOnesRead) {
    int count = 0;
    for (const ShippedFile& shipped : shipped_files()) {
        if (shipped.path.starts_with("gates/")) {
            ++count;
            EXPECT_FALSE(parse_policy(shipped.text, std::string(shipped.path)).name.empty());
        }
    }
    EXPECT_GE(count, 3);
}

TEST(GateReport, AnnotationsAreAtMostTenAndEscaped) {
    const GateJudged it(plain, [](Results& r) {
        for (std::size_t i = 0; i < 14; ++i) {
            r.records[i].outcome = Outcome::crashed;
            r.records[i].reason = "50% lost\nhere";
        }
    });
    const std::string text = gate_annotations(it.verdict);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
    EXPECT_NE(text.find("::error title=normtune%3A crashed::"), std::string::npos);
    EXPECT_NE(text.find("50%25 lost?here"), std::string::npos);
    EXPECT_NE(text.find("and 19 more"), std::string::npos);  // of both metrics
    EXPECT_NE(gate_junit(it.verdict).find("<failure type=\"crashed\""), std::string::npos);
}

}  // namespace
}  // namespace normtune
