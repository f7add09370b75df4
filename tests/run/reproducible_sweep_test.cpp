// Sweeps that compare bits: on the CPU, and on a replay device with a store of winners.
#include <gtest/gtest.h>

#include "judge/reproducible.h"
#include "run/sweep_fixture.h"
#include "space/reproducibility.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

TEST(ReproducibleSweep, OnTheCpuComparesBitsAndClassesAreWhatTheyAreSaidToBe) {
    const TemporaryFolder folder;
    SweepOptions options;
    options.command = {"normtune", "verify"};
    for (const std::int64_t rows : {1, 67}) {
        for (const char* mode : {"forward", "backward"}) {
            options.problems.push_back(parse_problem_key(fmt::format("rms_norm/{}/bf16/llama/{}x256", mode, rows)));
        }
        options.problems.push_back(parse_problem_key(fmt::format("fused_add_rms_norm/inference/bf16/llama/{}x256/in_place", rows)));
    }
    options.space = load_space("quick");
    options.strategy = find_strategy("random");
    options.most_trials_per_problem = 5;
    options.backend = Backend::cpu;
    options.verify_only = true;
    options.batch_invariant = true;
    options.out_folder = folder.make_folder("out");
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    ASSERT_FALSE(result.results.records.empty());
    for (const Record& record : result.results.records) {
        ASSERT_TRUE(record.bits) << record.candidate.identity() << ": " << record.reason;
        EXPECT_EQ(record.bits->rows_differ, "") << record.candidate.identity();
    }
    for (const BitsTally& tally : bits_tallies(result.results)) {
        EXPECT_EQ(tally.contradicted, std::vector<std::string>{}) << tally.name;
    }
}

TEST(ReproducibleSweep, OnTheCpuSplitSumsOfDgammaDoNotVary) {
    const TemporaryFolder folder;
    SweepOptions options;
    options.command = {"normtune", "verify"};
    options.problems = {parse_problem_key("rms_norm/backward/fp32/gemma/300x256")};
    options.space.name = "methods";
    options.space.axes = {{Axis::dgamma, {static_cast<int>(DgammaMethod::partials), static_cast<int>(DgammaMethod::split)}},
                          {Axis::threads_per_row, {8, 16, 32}},
                          {Axis::num_warps, {1, 2, 4}},
                          {Axis::residency, {static_cast<int>(Residency::reload)}}};
    options.backend = Backend::cpu;
    options.verify_only = true;
    options.deterministic = true;
    options.space.rules.push_back(deterministic_rule(Backend::cpu));
    options.out_folder = folder.make_folder("out");
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    ASSERT_FALSE(result.results.records.empty());
    for (const Record& record : result.results.records) {
        EXPECT_EQ(record.candidate.configuration()->dgamma, DgammaMethod::split);
        ASSERT_TRUE(record.bits);
        EXPECT_EQ(record.bits->runs_differ, "") << record.candidate.identity();
    }
    EXPECT_GT(result.results.plans.front().taken_by("deterministic").value_or(0), 0U);
}

TEST(ReproducibleSweep, WhatVariesFromRunToRunIsPrunedWithTheReason) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "timings: [{us: 100}]\n");
    options.problems.front().operation.mode = Mode::backward;
    options.space.axes.push_back({Axis::dgamma, {static_cast<int>(DgammaMethod::partials), static_cast<int>(DgammaMethod::atomic)}});
    options.deterministic = true;  // without the rule: what a candidate would be told by
    RecordingSink sink;
    std::size_t pruned = 0;
    for (const Record& record : run_sweep(options, sink).results.records) {
        const bool atomic = record.candidate.configuration()->dgamma == DgammaMethod::atomic;
        EXPECT_EQ(record.outcome, atomic ? Outcome::pruned : Outcome::passed) << record.candidate.identity();
        EXPECT_EQ(record.reason.rfind("--deterministic: ", 0) == 0, atomic) << record.reason;
        pruned += atomic ? 1 : 0;
    }
    EXPECT_EQ(pruned, 6U);
}

TEST(ReproducibleSweep, WhatWasStoredWithoutTheComparisonIsMeasuredAgain) {
    const TemporaryFolder folder;
    const std::string store = folder.path("winners.sqlite3");
    const auto sweep = [&](const char* out, bool invariant) {
        SweepOptions options = small_sweep(folder, "timings: [{us: 100}]\n", out);
        options.strategy = find_strategy("racing");
        options.store = store;
        options.batch_invariant = invariant;
        RecordingSink sink;
        return run_sweep(options, sink).results;
    };
    const auto is_stored = [](const Results& results) { return results.plans.front().stored(); };
    EXPECT_FALSE(is_stored(sweep("one", false)));
    EXPECT_TRUE(is_stored(sweep("two", false)));
    const Results compared = sweep("three", true);
    EXPECT_FALSE(is_stored(compared));
    const Results again = sweep("four", true);
    EXPECT_TRUE(is_stored(again));
    for (const Record& record : again.records) {
        EXPECT_TRUE(record.bits) << record.candidate.identity();
    }
    EXPECT_FALSE(is_stored(sweep("five", false)) && sweep("six", false).records.front().bits);
}

TEST(ReproducibleSweep, ResumesWithItsOwnSelection) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "timings: [{us: 100}]\n");
    options.batch_invariant = options.deterministic = true;
    RecordingSink sink;
    run_sweep(options, sink);
    const SweepOptions resumed = options_from_journal(options.out_folder);
    EXPECT_TRUE(resumed.batch_invariant);
    EXPECT_TRUE(resumed.deterministic);
    options.resume = true;
    options.batch_invariant = false;
    try {
        run_sweep(options, sink);
        FAIL() << "another selection was resumed";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("batch_invariant"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace normtune
