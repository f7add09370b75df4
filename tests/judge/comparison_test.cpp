#include "judge/comparison.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::six_problems;
using testing::synthetic_results;
using testing::SyntheticSweep;

ResultRows rows(const Results& results) {
    return rows_of(results, "file");
}

Comparison compared(const ResultRows& before, const ResultRows& after, CompareSettings settings = {}) {
    return compare(before, after, settings);
}

TEST(Compare, AFileWithItselfIsTheSame) {
    const ResultRows file = rows(synthetic_results(six_problems(1)));
    const Comparison comparison = compared(file, file);
    ASSERT_EQ(comparison.pairs.size(), 30U);
    EXPECT_EQ(comparison.not_comparable, "");
    for (const Pair& pair : comparison.pairs) {
        EXPECT_EQ(pair.ratio, 1);
        EXPECT_EQ(pair.baseline, pair.candidate);
        EXPECT_EQ(pair.evidence, Evidence::rounds);
    }
    EXPECT_EQ(comparison.count(Verdict::same), 30U);
}

TEST(Compare, SwappingTheSidesInvertsTheRatios) {
    SyntheticSweep sweep = six_problems(2);
    sweep.planted = [](int problem, int) { return problem == 3 ? 1.2 : 1.0; };
    const ResultRows before = rows(synthetic_results(six_problems(1)));
    const ResultRows after = rows(synthetic_results(sweep));
    const Comparison forth = compared(before, after);
    const Comparison back = compared(after, before);
    EXPECT_EQ(forth.count(Verdict::slower), 5U);
    EXPECT_EQ(back.count(Verdict::faster), 5U);
    for (std::size_t i = 0; i < forth.pairs.size(); ++i) {
        EXPECT_NEAR(forth.pairs[i].ratio * back.pairs[i].ratio, 1, 1e-12);
        EXPECT_NEAR(forth.pairs[i].low * back.pairs[i].high, 1, 1e-9);
    }
}

TEST(Compare, TimesFromTheStoreAreTold) {
    Results results = synthetic_results(six_problems(1));
    for (Record& record : results.records) {
        record.timestamp = "2026-11-20T08:00:00Z";
    }
    const std::string first = results.records.front().problem.key();
    results.records.front().timestamp = "2026-10-31T23:59:59Z";
    results.plans.push_back({first, 5, 5, {{"invalid.num_warps", "", 0}, {std::string(stored_rule), "", 0}}, {}});
    results.plans.push_back({results.records.back().problem.key(), 5, 5, {{"invalid.num_warps", "", 0}}, {}});
    const ResultRows stored = rows(results);
    EXPECT_EQ(stored.stored.problems, 1U);
    EXPECT_EQ(stored.stored.oldest_day, "2026-10-31");
    const ResultRows measured = rows(synthetic_results(six_problems(2)));
    EXPECT_TRUE(remarks_on(compared(measured, measured)).empty());
    const std::vector<std::string> remarks = remarks_on(compared(measured, stored));
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_NE(remarks[0].find("file: the times of 1 problem were not measured"), std::string::npos) << remarks[0];
    EXPECT_NE(remarks[0].find("2026-10-31"), std::string::npos) << remarks[0];
    EXPECT_EQ(remarks_on(compared(stored, stored)).size(), 2U);
    CompareSettings memory;
    memory.metric = Metric::memory;
    EXPECT_TRUE(remarks_on(compared(stored, stored, memory)).empty());
}

// A race's few rounds are no measurement to compare with.
TEST(Compare, TrialsThatARaceDroppedAreCountedAndLeftOut) {
    Results before = synthetic_results(six_problems(1));
    Results after = synthetic_results(six_problems(2));
    before.records[3].measurement->stop_reason = StopReason::dropped;
    after.records[3].measurement->stop_reason = StopReason::dropped;
    after.records[17].measurement->stop_reason = StopReason::dropped;
    const Comparison comparison = compared(rows(before), rows(after));
    EXPECT_EQ(comparison.dropped, 2U);
    EXPECT_EQ(comparison.pairs.size(), 28U);
    EXPECT_EQ(comparison.count(Verdict::missing) + comparison.count(Verdict::new_), 0U);
    CompareSettings memory;
    memory.metric = Metric::memory;  // which it has all the same
    EXPECT_EQ(compared(rows(before), rows(after), memory).pairs.size(), 30U);
    // Two races of one selection often keep different ones: that is what is said, and not that the machines differ.
    for (std::size_t i = 0; i < before.records.size(); ++i) {
        (i % 2 == 0 ? before : after).records[i].measurement->stop_reason = StopReason::dropped;
    }
    const std::string why = compared(rows(before), rows(after)).not_comparable;
    EXPECT_NE(why.find("no trial in common that neither's race dropped; --by best"), std::string::npos) << why;
    CompareSettings of_policy;
    of_policy.of_policy = true;
    const std::string of_gate = compared(rows(before), rows(after), of_policy).not_comparable;
    EXPECT_NE(of_gate.find("no trial in common that neither's race dropped; by: best in the gate's policy"), std::string::npos) << of_gate;
}

TEST(Compare, TheMemoryOfTheBestIsThatOfTheFastestWhereNothingIsRanked) {
    Results results = synthetic_results(six_problems(1));
    for (std::size_t i = 0; i < results.records.size(); i += 5) {
        const auto of_problem = std::span(results.records).subspan(i, 5);
        const auto us = [](const Record& record) { return record.measurement->p50_us; };
        std::ranges::min_element(of_problem, {}, us)->measurement->memory_bytes *= 4;
    }
    CompareSettings settings;
    settings.by = MatchBy::best;
    settings.metric = Metric::memory;
    const ResultRows file = rows(results);
    const Comparison comparison = compared(file, file, settings);
    ASSERT_EQ(comparison.pairs.size(), 6U);
    for (const Pair& pair : comparison.pairs) {
        EXPECT_EQ(pair.before, 4);
    }
}

TEST(Compare, MissingNewAndFailedTrialsAreTold) {
    Results before = synthetic_results(six_problems(1));
    Results after = synthetic_results(six_problems(2));
    before.records[0].candidate.configuration()->num_warps = 16;  // the candidate has it not
    after.records[0].candidate.configuration()->num_warps = 32;
    after.records[1].outcome = Outcome::crashed;
    after.records[1].reason = "the worker died of SIGSEGV";
    before.records[2].outcome = Outcome::incorrect;
    after.records[2].outcome = Outcome::incorrect;
    const ResultRows a = rows(before);
    const ResultRows b = rows(after);
    const Comparison comparison = compared(a, b);
    EXPECT_EQ(comparison.count(Verdict::missing), 2U);
    EXPECT_EQ(comparison.count(Verdict::new_), 1U);
    EXPECT_EQ(comparison.failed_both, 1U);
    EXPECT_EQ(comparison.pairs.size(), 30U);
    EXPECT_EQ(comparison.note(comparison.pairs[1]), "candidate crashed: the worker died of SIGSEGV");
    EXPECT_EQ(comparison.pairs[0].verdict, Verdict::missing);
    EXPECT_TRUE(std::isnan(comparison.pairs[0].ratio));
}

TEST(Compare, OfTwoRowsOfOneTrialTheNewerStands) {
    Results before = synthetic_results(six_problems(1));
    Record again = before.records[0];
    again.timestamp = "2026-11-19T00:00:00Z";
    again.measurement->p50_us *= 7;
    for (Round& round : again.measurement->rounds) {
        round.median_us *= 7;
    }
    before.records.push_back(again);
    const ResultRows twice = rows(before);
    const ResultRows once = rows(synthetic_results(six_problems(1)));
    EXPECT_EQ(compared(once, twice).count(Verdict::slower), 0U);
    before.records.back().timestamp = "2026-11-22T00:00:00Z";
    const ResultRows newer = rows(before);
    EXPECT_EQ(compared(once, newer).count(Verdict::slower), 1U);
}

TEST(Compare, ByBestComparesTheWinners) {
    Results before = synthetic_results(six_problems(1));
    Results after = synthetic_results(six_problems(2));
    before.records[0].measurement->rank = 1;
    after.records[3].measurement->rank = 1;
    after.records[3].candidate.configuration()->num_warps = 16;
    CompareSettings settings;
    settings.by = MatchBy::best;
    const ResultRows a = rows(before);
    const ResultRows b = rows(after);
    const Comparison comparison = compared(a, b, settings);
    ASSERT_EQ(comparison.pairs.size(), 6U);
    EXPECT_EQ(comparison.pairs[0].baseline, 0U);
    EXPECT_EQ(comparison.pairs[0].candidate, 3U);
    EXPECT_NE(comparison.configuration(comparison.pairs[0]).find(" → w16."), std::string::npos);
    // Elsewhere nothing is ranked: the least p50.
    const Pair& other = comparison.pairs[1];
    for (std::uint32_t i = 5; i < 10; ++i) {
        EXPECT_LE(a.rows[other.baseline].p50_us, a.rows[i].p50_us);
    }
}

TEST(Compare, ByBestRestsOnTheFreshRoundsOfBothWinners) {
    Results before = synthetic_results(six_problems(1));
    for (std::size_t i = 0; i < before.records.size(); i += 5) {
        before.records[i].measurement->rank = 1;
        before.records[i].measurement->final_rounds_us.assign(15, before.records[i].measurement->p50_us * 1.5);
    }
    CompareSettings settings;
    settings.by = MatchBy::best;
    const ResultRows a = rows(before);
    const Comparison comparison = compared(a, a, settings);
    EXPECT_EQ(comparison.pairs[0].evidence, Evidence::fresh_rounds);
    EXPECT_NEAR(comparison.pairs[0].before, before.records[0].measurement->p50_us * 1.5, 1e-9);
}

struct Difference {
    Facet facet;
    std::function<void(Results&)> make;
};

TEST(Compare, WhatMustNotDifferIsNamedAndRefusedUnlessAllowed) {
    const auto each = [](Results& results, const std::function<void(Record&)>& change) {
        for (Record& record : results.records) {
            change(record);
        }
    };
    const std::vector<Difference> differences{
        {Facet::device, [&](Results& r) { each(r, [](Record& record) { record.device = "another"; }); }},
        {Facet::driver, [](Results& r) { r.environment.device.driver = "another"; }},
        {Facet::casting, [&](Results& r) { each(r, [](Record& record) { record.problem.operation.casting = Casting::gemma; }); }},
        {Facet::timer, [&](Results& r) { each(r, [](Record& record) { record.measurement->timer = "events"; }); }},
        {Facet::cold, [&](Results& r) { each(r, [](Record& record) { record.measurement->cold = false; }); }}};
    const ResultRows before = rows(synthetic_results(six_problems(1)));
    for (const Difference& difference : differences) {
        Results results = synthetic_results(six_problems(2));
        difference.make(results);
        const ResultRows after = rows(results);
        const std::string name(facet_names.name(difference.facet));
        const std::string why = compared(before, after).not_comparable;
        EXPECT_NE(why.find("--across " + name), std::string::npos) << name << ": " << why;
        CompareSettings settings;
        settings.across = {difference.facet};
        EXPECT_EQ(compared(before, after, settings).not_comparable, "") << name;
        EXPECT_EQ(compared(before, after, settings).count(Verdict::slower), 0U) << name;
    }
}

TEST(Compare, AllThatDiffersIsNamedAtOnce) {
    Results results = synthetic_results(six_problems(2));
    results.environment.device.driver = "another";
    for (Record& record : results.records) {
        record.device = "another";
        record.measurement->cold = false;
    }
    const ResultRows before = rows(synthetic_results(six_problems(1)));
    const ResultRows after = rows(results);
    const std::string why = compared(before, after).not_comparable;
    EXPECT_NE(why.find("--across device,driver,cold compares"), std::string::npos) << why;
    CompareSettings settings;
    settings.across = {Facet::device, Facet::driver, Facet::cold};
    EXPECT_EQ(compared(before, after, settings).not_comparable, "");
}

TEST(Compare, APairThatAloneDiffersIsNotJudged) {
    Results results = synthetic_results(six_problems(2));
    results.records[4].measurement->timer = "events";
    results.records[4].measurement->p50_us *= 3;
    for (Round& round : results.records[4].measurement->rounds) {
        round.median_us *= 3;
    }
    const ResultRows before = rows(synthetic_results(six_problems(1)));
    const ResultRows after = rows(results);
    const Comparison comparison = compared(before, after);
    EXPECT_EQ(comparison.not_comparable, "");
    EXPECT_EQ(comparison.pairs[4].verdict, Verdict::ambiguous);
    EXPECT_EQ(comparison.note(comparison.pairs[4]), "timer differs");
}

TEST(Compare, NothingInCommonIsSaid) {
    SyntheticSweep sweep = six_problems(1);
    Results results = synthetic_results(sweep);
    for (Record& record : results.records) {
        record.problem.shape.cols = 64;
        record.problem.shape.row_stride = 64;
    }
    const ResultRows before = rows(synthetic_results(sweep));
    const ResultRows after = rows(results);
    EXPECT_NE(compared(before, after).not_comparable.find("nothing in common"), std::string::npos);
    EXPECT_NE(compared(before, rows(Results{})).not_comparable.find("nothing in common"), std::string::npos);
}

TEST(Compare, MemoryIsExact) {
    Results results = synthetic_results(six_problems(2));
    results.records[0].measurement->memory_bytes *= 2;
    results.records[1].measurement->memory_bytes /= 2;
    const ResultRows before = rows(synthetic_results(six_problems(1)));
    const ResultRows after = rows(results);
    CompareSettings settings;
    settings.metric = Metric::memory;
    const Comparison comparison = compared(before, after, settings);
    EXPECT_EQ(comparison.pairs[0].verdict, Verdict::slower);
    EXPECT_EQ(verdict_word(Verdict::slower, Metric::memory), "more");
    EXPECT_EQ(comparison.pairs[1].verdict, Verdict::faster);
    EXPECT_EQ(comparison.count(Verdict::same), 28U);
    EXPECT_EQ(comparison.pairs[0].evidence, Evidence::exact);
}

TEST(Compare, ADeviceThatBecameSlowerIsNoRegressionOfKernels) {
    SyntheticSweep sweep = six_problems(2);
    Results results = synthetic_results(sweep);
    for (Record& record : results.records) {  // all of it by 5%, the copies as well
        Measurement& m = *record.measurement;
        m.limit_us *= 1.05;
        m.p50_us *= 1.05;
        for (Round& round : m.rounds) {
            round.median_us *= 1.05;
        }
    }
    const ResultRows before = rows(synthetic_results(six_problems(1)));
    const ResultRows after = rows(results);
    const Comparison comparison = compared(before, after);
    EXPECT_EQ(comparison.count(Verdict::slower), 0U);
    EXPECT_NEAR(comparison.run_to_run.copy_ratio, 1.05, 0.01);
}

/// The sweep with its first problem's trials made to take `us`, beside a copy of `copy_us`.
ResultRows with_short_kernels(std::uint64_t seed, double us, double copy_us) {
    Results results = synthetic_results(six_problems(seed));
    const std::string first = results.records[0].problem.key();
    for (Record& record : results.records) {
        if (record.problem.key() == first) {
            Measurement& m = *record.measurement;
            const double factor = us / m.p50_us;
            m.p50_us = us;
            m.limit_us = copy_us;
            for (Round& round : m.rounds) {
                round.median_us *= factor;
            }
        }
    }
    return rows(results);
}

TEST(Compare, LaunchesThatBecameSlowerAreNoRegressionOfShortKernels) {
    const ResultRows before = with_short_kernels(1, 2.0, 1.32);
    const ResultRows slower_launch = with_short_kernels(2, 2.32, 1.69);
    EXPECT_EQ(compared(before, slower_launch).count(Verdict::slower), 0U);
    const ResultRows slower_kernels = with_short_kernels(2, 2.32, 1.33);
    EXPECT_EQ(compared(before, slower_kernels).count(Verdict::slower), 5U);
}

/// Gives every trial a code of its own, and those that `changed` chooses another one.
ResultRows with_codes(Results results, const std::function<bool(std::size_t)>& changed) {
    for (std::size_t i = 0; i < results.records.size(); ++i) {
        results.records[i].compile.emplace().code_hash = fmt::format("{:031}{}", i, changed(i) ? 'b' : 'a');
    }
    return rows(results);
}

void lengthen(Record& record, double factor, double more_us) {
    Measurement& m = *record.measurement;
    m.p50_us = m.p50_us * factor + more_us;
    for (Round& round : m.rounds) {
        round.median_us = round.median_us * factor + more_us;
    }
}

const auto no_codes = [](std::size_t) { return false; };
const auto odd = [](std::size_t trial) { return trial % 2 == 1; };

TEST(SameCode, CannotHaveBecomeSlower) {
    Results after = synthetic_results(six_problems(2));
    lengthen(after.records[7], 1.5, 0);
    const ResultRows a = with_codes(synthetic_results(six_problems(1)), no_codes);
    const ResultRows b = with_codes(after, no_codes);
    const Comparison comparison = compared(a, b);
    EXPECT_EQ(comparison.count(Verdict::same_code), 30U);
    EXPECT_TRUE(comparison.all_same_code());
    ASSERT_EQ(remarks_on(comparison).size(), 1U);
    EXPECT_NE(remarks_on(comparison)[0].find("all 30 pairs"), std::string::npos);
    CompareSettings settings;
    settings.judge_same_code = true;
    EXPECT_EQ(compared(a, b, settings).pairs[7].verdict, Verdict::slower);
}

TEST(SameCode, IsOneLaunchOnOneDeviceByOneDriver) {
    const Results before = synthetic_results(six_problems(1));
    const ResultRows a = with_codes(before, no_codes);
    Results other_grid = before;
    for (Record& record : other_grid.records) {
        record.compile.emplace().code_hash = "";
    }
    EXPECT_EQ(compared(a, rows(other_grid)).count(Verdict::same_code), 0U);  // not told
    Results other_driver = before;
    other_driver.environment.device.driver = "another";
    CompareSettings settings;
    settings.across = {Facet::driver};
    const ResultRows b = with_codes(other_driver, no_codes);
    EXPECT_EQ(compared(a, b, settings).count(Verdict::same_code), 0U);
    EXPECT_EQ(compared(a, b, settings).count(Verdict::same), 30U);
}

TEST(SameCode, IsTheControlForAllOthers) {
    Results after = synthetic_results(six_problems(2));
    for (std::size_t i = 0; i < after.records.size(); ++i) {  // each launch takes 2 us longer, which no floor tells
        lengthen(after.records[i], i == 9 ? 1.15 : 1.0, 2);
    }
    const ResultRows a = with_codes(synthetic_results(six_problems(1)), no_codes);
    const ResultRows b = with_codes(after, odd);
    const Comparison comparison = compared(a, b);
    EXPECT_EQ(comparison.count(Verdict::same_code), 15U);
    EXPECT_FALSE(comparison.all_same_code());
    EXPECT_NEAR(comparison.control.shift_us, 2, 0.3);
    EXPECT_EQ(comparison.count(Verdict::slower), 1U);
    EXPECT_EQ(comparison.pairs[9].verdict, Verdict::slower);
    EXPECT_NEAR(comparison.pairs[9].ratio, 1.15, 0.03);
    CompareSettings settings;
    settings.judge_same_code = true;
    EXPECT_GT(compared(a, b, settings).count(Verdict::slower), 5U);  // without a control the launches look like the kernels
}

TEST(Floor, WhatItMovedByIsTakenOff) {
    Results before = synthetic_results(six_problems(1));
    Results after = synthetic_results(six_problems(2));
    for (Record& record : before.records) {
        record.measurement->floor_us = 0.98;
    }
    for (std::size_t i = 0; i < after.records.size(); ++i) {
        lengthen(after.records[i], i == 9 ? 1.2 : 1.0, 1.5);
        after.records[i].measurement->limit_us += 1.5;
        after.records[i].measurement->floor_us = 2.48;
    }
    const ResultRows a = rows(before);
    const ResultRows b = rows(after);
    const Comparison comparison = compared(a, b);
    EXPECT_NEAR(comparison.floor_change_us(comparison.pairs[0]), 1.5, 1e-6);
    EXPECT_EQ(comparison.count(Verdict::slower), 1U);
    EXPECT_EQ(comparison.pairs[9].verdict, Verdict::slower);
    for (Record& record : after.records) {
        record.measurement->floor_us = 0;
    }
    const ResultRows unknown = rows(after);
    EXPECT_GT(compared(a, unknown).pairs[0].ratio, comparison.pairs[0].ratio);
}

TEST(Judge, IntervalAndThresholdBothCount) {
    Pair pair;
    pair.ratio = 1.05;
    pair.low = 1.03;
    pair.high = 1.07;
    pair.half_width = 0.01F;
    EXPECT_EQ(judge(pair, 0.01, 0.02), Verdict::slower);
    EXPECT_EQ(judge(pair, 0.06, 0.02), Verdict::same);  // real, but below the threshold
    pair.low = 0.99;
    EXPECT_EQ(judge(pair, 0.01, 0.02), Verdict::ambiguous);
    pair.ratio = 1.001;
    EXPECT_EQ(judge(pair, 0.01, 0.02), Verdict::same);
    pair.half_width = 0.05F;
    EXPECT_EQ(judge(pair, 0.01, 0.02), Verdict::ambiguous);
    pair = {};
    pair.ratio = 0.9;
    pair.low = 0.88;
    pair.high = 0.92;
    EXPECT_EQ(judge(pair, 0.01, 0.02), Verdict::faster);
}

}  // namespace
}  // namespace normtune
