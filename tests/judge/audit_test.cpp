#include "judge/audit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "judge/synthetic_records.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::add;
using testing::problem_of;

/// 8192 rows of 128 columns on 132 compute units: TransformerEngine's ladder says 4 rows a program.
Results short_rows() {
    Results results;
    add(results, problem_of(8192, 128),
        {{"w1.t32.r1.row.registers.masked.per_row", 20},
         {"w1.t32.r2.row.registers.masked.packed", 10},
         {"w1.t32.r4.row.registers.masked.packed", 11},
         {"w4.t128.r4.row.registers.masked.packed", 14}});
    return results;
}

Rule rule(const std::string& keep, bool keep_all_if_none = false) {
    Rule out;
    out.name = "mine";
    out.keep = keep;
    out.keep_all_if_none = keep_all_if_none;
    return out;
}

/// What one rule lost, and the audit that its pointers lead into.
struct Audited {
    Audit all;
    const RuleLoss* operator->() const { return &all.problems.at(0).rules.at(0); }
};

Audited judged(const Results& results, const Rule& rule) {
    return {audit({&results, 1}, {}, {rule})};
}

TEST(Audit, AHeuristicLosesWhatTheBestThatObeysItLoses) {
    const Results results = short_rows();
    const Audit out = audit({&results, 1}, named_thumb_rules(), {});
    const Obeying& te = out.problems[0].heuristics[0];
    EXPECT_EQ(out.heuristics[0].name(), "te_rows_per_program");
    EXPECT_EQ(te.count, 2u);
    EXPECT_NEAR(te.best->loss(), 0.1, 1e-12);
    const Obeying& quack = out.problems[0].heuristics[3];
    EXPECT_EQ(quack.count, 0u);  // 16 threads a row: none was measured
    EXPECT_EQ(quack.best, nullptr);
}

TEST(Audit, AUsersHeuristicIsAnExpressionAndDecidesTheAxesItReads) {
    const Results results = short_rows();
    const ThumbRule one = ThumbRule::parse("one=cols <= 512 ? rows_per_program == 1 && threads == 32 : num_warps == 8");
    EXPECT_EQ(one.name(), "one");
    EXPECT_EQ(one.decides(), (std::vector<Axis>{Axis::num_warps, Axis::rows_per_program}));
    const Audit out = audit({&results, 1}, {one}, {});
    EXPECT_NEAR(out.problems[0].heuristics[0].best->loss(), 1, 1e-12);
}

TEST(Audit, AHeuristicThatIsNoneIsRefused) {
    for (const char* wrong :
         {"", "=", "a=", "=rows_per_program == 1", "rows_per_program", "a=rows_per_progam == 1", "a=code_registers < 64"}) {
        EXPECT_THROW(ThumbRule::parse(wrong), InputError) << wrong;
    }
}

TEST(Audit, ARuleLosesWhatTheBestThatItLeavesLoses) {
    const Results results = short_rows();
    const Audited loss = judged(results, rule("rows_per_program != 2"));
    EXPECT_EQ(loss->finding, RuleFinding::judged);
    EXPECT_EQ(loss->taken, 1u);
    EXPECT_EQ(loss->best_taken->record, &results.records[1]);
    EXPECT_EQ(loss->best_kept->record, &results.records[2]);
    EXPECT_NEAR(loss->best_kept->loss(), 0.1, 1e-12);
    EXPECT_EQ(judged(results, rule("num_warps == 1"))->best_kept->loss(), 0);
}

TEST(Audit, ARuleMayTakeNothingOrLeaveNothing) {
    const Results results = short_rows();
    EXPECT_EQ(judged(results, rule("num_warps < 32"))->finding, RuleFinding::takes_nothing);
    EXPECT_EQ(judged(results, rule("num_warps > 16"))->finding, RuleFinding::leaves_nothing);
    EXPECT_EQ(judged(results, rule("num_warps > 16", true))->finding, RuleFinding::lifted);
}

TEST(Audit, WhatTheSweepPrunedItselfHasNoVerdict) {
    Results results = short_rows();
    PlanSummary plan{results.records[0].problem.key(), 100, 4, {{"theirs", "rows_per_program != 2", 7}}};
    results.plans = {plan};
    const Audited same = judged(results, rule("rows_per_program != 2"));
    EXPECT_EQ(same->finding, RuleFinding::applied);
    EXPECT_EQ(same->unmeasured, 7u);
    // Another rule under the same name: what this one leaves was perhaps not measured.
    results.plans[0].pruned[0] = {"mine", "rows_per_program < 8", 5};
    EXPECT_EQ(judged(results, rule("rows_per_program != 2"))->finding, RuleFinding::changed);
    // It pruned nothing there, so it hid nothing.
    results.plans[0].pruned[0].count = 0;
    EXPECT_EQ(judged(results, rule("rows_per_program != 2"))->finding, RuleFinding::judged);
}

TEST(Audit, RulesOnCompiledCodeReadTheRecordedFigures) {
    Results results = short_rows();
    for (Record& record : results.records) {
        record.compile.emplace();
        record.compile->spill_bytes = 0;
    }
    results.records[1].compile->spill_bytes = 8;
    EXPECT_NEAR(judged(results, rule("code_spill_bytes == 0"))->best_kept->loss(), 0.1, 1e-12);
    // A figure that a backend does not have takes nothing.
    EXPECT_EQ(judged(results, rule("code_registers < 10"))->finding, RuleFinding::takes_nothing);
    // The sweep had compiled it, and pruned it by this very rule.
    results.records[3].outcome = Outcome::pruned;
    results.records[3].compile->spill_bytes = 16;
    const Audited applied = judged(results, rule("code_spill_bytes == 0"));
    EXPECT_EQ(applied->finding, RuleFinding::applied);
    EXPECT_EQ(applied->unmeasured, 1u);
}

TEST(Audit, GroupsAreByOpAndModeWithTheWorstAndTheGeometricMean) {
    Results results = short_rows();
    add(results, problem_of(1, 4096), {{"w4.t128.r1.row.registers.masked.per_row", 10}, {"w4.t128.r2.row.registers.masked.packed", 9}});
    add(results, problem_of(1, 4096, Mode::backward), {{"w4.t128.r2.row.registers.masked.packed", 9}});
    const Audit out = audit({&results, 1}, named_thumb_rules(), {});
    const std::vector<LossGroup>& te = out.heuristic_groups[0];
    ASSERT_EQ(te.size(), 3u);
    EXPECT_EQ(te[0].mode, "forward");
    EXPECT_EQ(te[0].judged, 2u);
    EXPECT_NEAR(te[0].mean, std::sqrt(1.1 * 10 / 9) - 1, 1e-12);
    EXPECT_NEAR(te[0].worst, 1.0 / 9, 1e-12);
    EXPECT_EQ(te[0].worst_on->problem().shape.cols, 4096);
    EXPECT_EQ(te[1].mode, "backward");
    EXPECT_EQ(te[1].judged, 0u);
    EXPECT_EQ(te[2].op, "");
    EXPECT_EQ(te[2].places, 3u);
}

TEST(Audit, TimesThatTwoRunsHaveCountOnce) {
    const Results run = short_rows();
    Results more = short_rows();  // of a sweep that took the winner from the store, and measured another problem
    more.records = {more.records[1]};
    add(more, problem_of(1, 4096), {{"w4.t128.r1.row.registers.masked.per_row", 10}});
    const std::vector<Results> stored{more, run};
    const Audit out = audit(stored, named_thumb_rules(), {});
    EXPECT_EQ(out.repeats, 1u);
    ASSERT_EQ(out.rankings.size(), 2u);
    EXPECT_EQ(out.rankings[0].standings.size(), 4u) << "what says more stays";
    EXPECT_EQ(out.heuristic_groups[0].back().places, 2u);
    Results again = short_rows();
    again.records[1].measurement->p50_us *= 1.001;
    const std::vector<Results> apart{run, again};
    const Audit both = audit(apart, named_thumb_rules(), {});
    EXPECT_EQ(both.repeats, 0u);
    EXPECT_EQ(both.rankings.size(), 2u);
    Results later = short_rows();
    for (Record& record : later.records) {
        record.timestamp = "2026-11-30T00:00:00Z";
    }
    const std::vector<Results> twice{run, later};
    EXPECT_EQ(audit(twice, named_thumb_rules(), {}).repeats, 0u) << "the same times, measured at another second";
}

TEST(Audit, NothingMeasuredIsAnError) {
    const Results results;
    EXPECT_THROW(audit({&results, 1}, {}, {}), InputError);
}

TEST(Audit, TheDefaultRulesBeginWithTransformerEngines) {
    const std::vector<Rule> rules = default_audit_rules();
    ASSERT_GT(rules.size(), 1u);
    EXPECT_EQ(rules[0].name, "te_threads_per_row");
    EXPECT_NE(rules[1].keep, rules[0].keep);
}

}  // namespace
}  // namespace normtune
