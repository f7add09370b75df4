// Several runs a side, and trials that a race dropped or that failed in one of them.
#include "judge/comparison.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "judge/recorded_sweeps.h"
#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::six_problems;
using testing::synthetic_results;
using testing::SyntheticSweep;

TEST(Processes, TellWhatRunsDifferBy) {
    std::vector<Results> before;
    std::vector<Results> after;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SyntheticSweep sweep = six_problems(2 * seed);
        sweep.run_deviation = 0.02;
        before.push_back(synthetic_results(sweep));
        sweep.seed = 2 * seed + 1;
        sweep.planted = [](int problem, int) { return problem == 3 ? 1.3 : 1.0; };
        after.push_back(synthetic_results(sweep));
    }
    const ResultRows a = rows_of_runs(before, "before");
    const ResultRows b = rows_of_runs(after, "after");
    const Comparison comparison = compare(a, b, {});
    ASSERT_EQ(comparison.pairs.size(), 30U);
    EXPECT_EQ(comparison.processes[0], 3U);
    EXPECT_EQ(comparison.pairs[0].evidence, Evidence::processes);
    EXPECT_EQ(comparison.count(Verdict::slower), 5U);
    EXPECT_NEAR(comparison.of_a_run, 0.028, 0.015);  // 2 % of a trial, 2 % of the device
    EXPECT_GT(comparison.runs_to_find(0.05), comparison.runs_to_find(0.1));
    EXPECT_EQ(comparison.runs_to_find(0.005), 0);  // more than 99
    const ResultRows one = rows_of(before[0], "before");
    EXPECT_EQ(compare(one, b, {}).processes[1], 3U);
}

/// As on a device that takes so many times as long for everything.
Results on_slower_device(Results run, double factor) {
    for (Record& record : run.records) {
        Measurement& m = *record.measurement;
        for (double* const us : {&m.p20_us, &m.p50_us, &m.p80_us, &m.limit_us}) {
            *us *= factor;
        }
        for (Round& round : m.rounds) {
            round.median_us *= factor;
        }
    }
    return run;
}

/// Six runs a side of one H100 and of another, of which the candidate's run i takes factor(i) times as long for everything.
struct RecordedSides {
    explicit RecordedSides(const std::function<double(std::size_t run)>& factor, std::size_t most = 6) {
        const std::string folder = std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated/";
        std::vector<Results> runs_before = testing::recorded_sweeps(folder + "h100_a");
        std::vector<Results> runs_after = testing::recorded_sweeps(folder + "h100_b");
        runs_before.resize(most);
        runs_after.resize(most);
        for (std::size_t i = 0; i < most; ++i) {
            runs_after[i] = on_slower_device(runs_after[i], factor(i));
        }
        before = rows_of_runs(runs_before, "before");
        after = rows_of_runs(runs_after, "after");
        comparison = compare(before, after, {});
    }
    ResultRows before;
    ResultRows after;
    Comparison comparison;
};

TEST(Processes, ADeviceThatGotSlowerMakesNoRegressions) {
    for (const std::size_t runs : {1U, 3U, 6U}) {
        for (const double factor : {1.02, 1.05}) {
            const RecordedSides it([=](std::size_t) { return factor; }, runs);
            EXPECT_EQ(it.comparison.pairs.size(), 56U);
            EXPECT_EQ(it.comparison.count(Verdict::slower), 0U) << runs << " runs a side, " << factor;
            EXPECT_NEAR(it.comparison.run_to_run.copy_ratio, factor, 0.005);
        }
    }
}

TEST(Processes, CopiesAreThoseOfAllRunsAsTimesAre) {
    const RecordedSides all_but_the_newest([](std::size_t run) { return run < 5 ? 1.05 : 1.0; });
    EXPECT_NEAR(all_but_the_newest.comparison.run_to_run.copy_ratio, std::pow(1.05, 5.0 / 6), 0.005);
    EXPECT_EQ(all_but_the_newest.comparison.count(Verdict::slower), 0U);
    const RecordedSides the_newest([](std::size_t run) { return run < 5 ? 1.0 : 1.05; });
    EXPECT_NEAR(the_newest.comparison.run_to_run.copy_ratio, std::pow(1.05, 1.0 / 6), 0.005);
}

/// Three runs a side, of which the candidate's first is another one.
std::pair<ResultRows, ResultRows> with_another_first(const std::function<void(Results&)>& change) {
    std::vector<Results> before;
    std::vector<Results> after;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        for (std::vector<Results>* const side : {&before, &after}) {
            side->push_back(synthetic_results(six_problems(2 * seed + (side == &after ? 1 : 0))));
            for (Record& record : side->back().records) {
                record.compile.emplace().code_hash = std::string(32, 'a');
            }
        }
    }
    change(after.front());
    return {rows_of_runs(before, "before"), rows_of_runs(after, "after")};
}

TEST(Processes, WhatMustBeAlikeIsSoInAllRuns) {
    const auto not_comparable = [](const std::function<void(Results&)>& change) {
        const auto [before, after] = with_another_first(change);
        return compare(before, after, {}).not_comparable;
    };
    EXPECT_EQ(not_comparable([](Results&) {}), "");
    const std::string driver = not_comparable([](Results& run) { run.environment.device.driver = "another"; });
    EXPECT_NE(driver.find("differ in driver (synthetic against another, synthetic)"), std::string::npos) << driver;
    const std::string hot = not_comparable([](Results& run) {
        for (Record& record : run.records) {
            record.measurement->cold = false;
        }
    });
    EXPECT_NE(hot.find("differ in cold (cold against hot, cold)"), std::string::npos) << hot;
}

TEST(Processes, TheSameCodeIsThatOfAllRuns) {
    const auto same_code = [](const std::function<void(Results&)>& change) {
        const auto [before, after] = with_another_first(change);
        return compare(before, after, {}).count(Verdict::same_code);
    };
    EXPECT_EQ(same_code([](Results&) {}), 30U);
    EXPECT_EQ(same_code([](Results& run) { run.records[7].compile->code_hash = std::string(32, 'b'); }), 29U);
}

TEST(Compare, WhatFailsNowIsToldWhereARaceDroppedItBefore) {
    Results before = synthetic_results(six_problems(1));
    Results after = synthetic_results(six_problems(2));
    for (const std::size_t i : {3U, 5U, 7U}) {
        before.records[i].measurement->stop_reason = StopReason::dropped;
        after.records[i].measurement.reset();
    }
    after.records[3].outcome = Outcome::launch_failed;
    after.records[5].outcome = Outcome::pruned;
    after.records[7].outcome = Outcome::incorrect;
    const ResultRows a = rows_of(before, "before");
    const ResultRows b = rows_of(after, "after");
    const Comparison comparison = compare(a, b, {});
    EXPECT_EQ(comparison.count(Verdict::missing), 2U);
    EXPECT_EQ(comparison.dropped, 1U);
}

TEST(Processes, AFailureInAnyOfThemHoldsAndADroppedTrialStandsBehindATime) {
    for (const std::size_t which : {0U, 1U, 2U}) {  // whichever is the newest
        std::vector<Results> before;
        std::vector<Results> after;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            before.push_back(synthetic_results(six_problems(2 * seed)));
            after.push_back(synthetic_results(six_problems(2 * seed + 1)));
        }
        after[which].records[4].outcome = Outcome::crashed;
        after[which].records[4].measurement.reset();
        after[which].records[7].measurement->stop_reason = StopReason::dropped;
        before[which].records[9].outcome = Outcome::pruned;  // as of an interrupted run
        before[which].records[9].measurement.reset();
        const ResultRows a = rows_of_runs(before, "before");
        const ResultRows b = rows_of_runs(after, "after");
        const Comparison comparison = compare(a, b, {});
        ASSERT_EQ(comparison.pairs.size(), 30U) << which;
        EXPECT_EQ(comparison.dropped, 0U) << which;
        EXPECT_EQ(comparison.pairs[4].verdict, Verdict::missing) << which;
        ASSERT_NE(comparison.candidate_row(comparison.pairs[4]), nullptr);
        EXPECT_EQ(comparison.candidate_row(comparison.pairs[4])->outcome, Outcome::crashed) << which;
        EXPECT_EQ(comparison.count(Verdict::missing), 1U) << which;
        EXPECT_EQ(comparison.count(Verdict::new_), 0U) << which;
    }
}

}  // namespace
}  // namespace normtune
