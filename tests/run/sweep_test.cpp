// What a sweep does, seen from its records.
#include "run/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::by_rows;
using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

constexpr const char* noiseless = "noise: {sigma: 0}\n";

std::vector<double> medians(const Record& record) {
    std::vector<double> out;
    for (const Round& round : record.measurement->rounds) {
        out.push_back(round.median_us);
    }
    return out;
}

TEST(Sweep, FillsInWhatARecordPromises) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, R"(
noise: {sigma: 0}
copy: {us: 10}
empty: {us: 2}
device: {cache_mib: 8}
timings: [{config: '*.r4.*', us: 12}, {config: '*', us: 16}]
)");
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    const Record record = by_rows(result).at("r4");
    EXPECT_EQ(record.outcome, Outcome::passed);
    EXPECT_EQ(record.device, "replay");
    ASSERT_TRUE(record.measurement);
    const Measurement& m = *record.measurement;
    EXPECT_DOUBLE_EQ(m.p50_us, 12);
    EXPECT_DOUBLE_EQ(m.limit_us, 10);
    EXPECT_DOUBLE_EQ(m.limit_ratio, 1.2);
    EXPECT_DOUBLE_EQ(m.floor_us, 2);
    EXPECT_DOUBLE_EQ(m.gbps, static_cast<double>(least_bytes(small_problem())) / 12e3);
    EXPECT_EQ(m.memory_bytes, tensor_bytes(small_problem()));
    EXPECT_GE(m.rotation_bytes, 4 * (8 << 20));
    EXPECT_TRUE(m.cold);
    EXPECT_EQ(m.rank, 1);
    EXPECT_FALSE(m.tied);
    EXPECT_EQ(record.repeat.rfind("normtune sweep --backend replay --replay-script ", 0), 0U) << record.repeat;
    EXPECT_NE(record.repeat.find(" --problem " + small_problem().key() + " --config " + record.candidate.identity()), std::string::npos)
        << record.repeat;
    for (const char* file : {"results.csv", "results.json", "liger.csv", "journal.jsonl"}) {
        EXPECT_TRUE(std::filesystem::exists(options.out_folder + "/" + file)) << file;
    }
    EXPECT_EQ(result.results.plans.at(0).kept, 6U);
}

TEST(Sweep, TakesOneKindOfLaunchAProblem) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, noiseless);
    options.space.axes.push_back({Axis::dependent_launch, {1}});
    RecordingSink sink;
    for (const Record& record : run_sweep(options, sink).results.records) {
        EXPECT_TRUE(record.candidate.key().ends_with(".pdl_on"));
        EXPECT_GT(record.measurement->limit_us, 0);
        EXPECT_GT(record.measurement->floor_us, 0);
    }
    EXPECT_TRUE(sink.warnings.empty());
    options.space.axes.back().values = {0, 1};
    options.out_folder = folder.make_folder("both");
    EXPECT_THROW(run_sweep(options, sink), InputError);
    options.verify_only = true;
    EXPECT_NO_THROW(run_sweep(options, sink)) << "nothing is compared";
}

TEST(Sweep, ATimerSaysAnotherRotation) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, noiseless);
    RecordingSink sink;
    EXPECT_EQ(by_rows(run_sweep(options, sink)).at("r1").measurement->timer, "replay");
    options.over_cache = 9;
    options.out_folder = folder.make_folder("other rotation");
    EXPECT_EQ(by_rows(run_sweep(options, sink)).at("r1").measurement->timer, "replay/rotation9");
    options.cold = false;
    options.out_folder = folder.make_folder("hot");
    EXPECT_EQ(by_rows(run_sweep(options, sink)).at("r1").measurement->timer, "replay") << "one set alone";
}

TEST(Sweep, HotRunsOnOneSetAndSaysSo) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, noiseless);
    options.cold = false;
    RecordingSink sink;
    const Record record = by_rows(run_sweep(options, sink)).at("r1");
    EXPECT_FALSE(record.measurement->cold);
    EXPECT_EQ(record.measurement->rotation_bytes, tensor_bytes(small_problem()));
}

TEST(Sweep, TheSameSeedGivesTheSameNumbersAndAnotherOneOthers) {
    const TemporaryFolder folder;
    const char* script = "noise: {sigma: 0.05}\ndrift: {amplitude: 0.2, period_samples: 300}\n";
    const auto run = [&](const char* out, std::uint64_t seed) {
        SweepOptions options = small_sweep(folder, script, out);
        options.seed = seed;
        RecordingSink sink;
        return by_rows(run_sweep(options, sink));
    };
    const auto first = run("a", 1);
    const auto again = run("b", 1);
    const auto other = run("c", 2);
    bool any_other = false;
    for (const auto& [name, record] : first) {
        // With drift a time depends on when it was taken: equal times mean an equal order of execution.
        EXPECT_EQ(medians(record), medians(again.at(name)));
        EXPECT_EQ(record.measurement->final_rounds_us, again.at(name).measurement->final_rounds_us);
        any_other = any_other || medians(record) != medians(other.at(name));
    }
    EXPECT_TRUE(any_other);
}

TEST(Sweep, StopsWhereTheRuleSaysAndSaysWhy) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, R"(
timings:
  - {config: '*.r1.*', us: 10, noise: {sigma: 0}}
  - {config: '*.r2.*', us: 10, noise: {kind: uniform, sigma: 0.5}}
  - {config: '*', us: 400000}
)");
    options.stop_rule.most_rounds = 9;
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    EXPECT_EQ(records.at("r1").measurement->stop_reason, StopReason::confidence);
    EXPECT_EQ(records.at("r1").measurement->rounds.size(), 6U);
    EXPECT_EQ(records.at("r2").measurement->stop_reason, StopReason::sample_cap);
    EXPECT_EQ(records.at("r2").measurement->rounds.size(), 9U);
    // 0.4 s a sample against a round of 20 ms: one sample a round, and the cap of 2 s after five of them.
    EXPECT_EQ(records.at("r4").measurement->stop_reason, StopReason::time_cap);
    EXPECT_EQ(records.at("r4").measurement->samples, static_cast<int>(records.at("r4").measurement->rounds.size()));
    EXPECT_LE(records.at("r4").measurement->rounds.size(), 6U);
}

TEST(Sweep, FinalistsAreMeasuredAfreshAndTiesAreNamed) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, R"(
noise: {sigma: 0.02}
timings:
  - {config: '*.r[12].*', us: 10}
  - {config: '*.r4.*', us: 10.4}
  - {config: '*', us: 20}
)");
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    EXPECT_TRUE(records.at("r1").measurement->tied);
    EXPECT_TRUE(records.at("r2").measurement->tied);
    EXPECT_EQ(records.at("r1").measurement->rank + records.at("r2").measurement->rank, 3);
    EXPECT_EQ(records.at("r1").measurement->final_rounds_us.size(), 12U);
    EXPECT_NEAR(records.at("r1").measurement->final_floor_us.value(), 1, 0.05) << "of the finals' own rounds";
    EXPECT_EQ(records.at("r8").measurement->final_floor_us, std::nullopt);
    EXPECT_EQ(records.at("r8").measurement->rank, 0);
    EXPECT_TRUE(records.at("r8").measurement->final_rounds_us.empty());
    EXPECT_FALSE(records.at("r8").measurement->tied);
}

TEST(Sweep, AJournalledTrialIsThereBeforeTheNextProgress) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, noiseless);
    struct ReadingSink : RecordingSink {
        void update(const Progress& progress) override { EXPECT_EQ(read_journal(folder).records.size(), progress.trials_done); }
        std::string folder;
    } sink;
    sink.folder = options.out_folder;
    run_sweep(options, sink);
}

TEST(Sweep, VerifyOnlyMeasuresNothing) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "faults: [{config: '*.r2.*', at: verify, do: incorrect}]\n");
    options.verify_only = true;
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(result.incorrect, 1U);
    for (const Record& record : result.results.records) {
        EXPECT_FALSE(record.measurement);
        EXPECT_TRUE(record.verification);
    }
}

TEST(Sweep, ABudgetIsKeptAndWhatDidNotFitIsCounted) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "delays: {sample_ms: 3, compile_ms: 60}\n");
    options.problems = {small_problem(256), small_problem(512)};
    options.budget_s = 0.5;
    RecordingSink sink;
    const auto begin = std::chrono::steady_clock::now();
    const SweepResult result = run_sweep(options, sink);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 20.0);  // the least that each problem gets comes on top, and a busy machine
    EXPECT_LT(result.results.records.size(), 12U);
    for (const PlanSummary& plan : result.results.plans) {
        EXPECT_GE(plan.kept, 1U);
        EXPECT_EQ(plan.pruned.back().rule, "budget");
        std::uint64_t counted = plan.kept;
        for (const auto& pruned : plan.pruned) {
            counted += pruned.count;
        }
        EXPECT_EQ(counted, plan.points);
    }
    EXPECT_EQ(sink.warnings.size(), 2U);

    SweepOptions rest = options_from_journal(options.out_folder);
    rest.budget_s = 0;
    EXPECT_EQ(run_sweep(rest, sink).results.records.size(), 12U);
}

TEST(Sweep, WhatABudgetLeftOfManyProblemsTakesAFewLines) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "delays: {sample_ms: 1, compile_ms: 10}\n");
    options.problems.clear();
    for (int i = 1; i <= 14; ++i) {
        options.problems.push_back(small_problem(256 * i));
    }
    options.budget_s = 0.01;
    RecordingSink sink;
    run_sweep(options, sink);
    ASSERT_EQ(sink.warnings.size(), 11U);
    EXPECT_NE(sink.warnings.front().find("trials did not fit into the budget, or its share of it"), std::string::npos)
        << sink.warnings.front();
    EXPECT_NE(sink.warnings.back().find("more lines on what the budget left"), std::string::npos) << sink.warnings.back();
}

TEST(Sweep, RandomDrawsThatManyAndCountsTheOthers) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, noiseless);
    options.strategy = find_strategy("random");
    options.most_trials_per_problem = 4;
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(result.results.records.size(), 4U);
    EXPECT_EQ(result.results.plans.at(0).kept, 4U);
    std::vector<std::string> drawn;
    for (const Record& record : result.results.records) {
        drawn.push_back(record.candidate.identity());
    }
    std::ranges::sort(drawn);
    std::vector<std::string> wanted;
    for (const char* rows : {"r16", "r2", "r32", "r8"}) {
        wanted.push_back(fmt::format("w4.t128.{}.row.registers.masked.packed", rows));
    }
    EXPECT_EQ(drawn, wanted) << "a seed draws the same, from version to version";
    EXPECT_EQ(result.results.plans.at(0).pruned.back().rule, "random");
    EXPECT_EQ(result.results.plans.at(0).pruned.back().count, 2U);
}

TEST(Sweep, ProgressCountsUpToTheTotal) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, "faults: [{config: '*.r2.*', at: compile, do: crash}]\n");
    RecordingSink sink;
    run_sweep(options, sink);
    ASSERT_FALSE(sink.updates.empty());
    std::uint64_t before = 0;
    for (const Progress& progress : sink.updates) {
        EXPECT_GE(progress.trials_done, before);
        before = progress.trials_done;
        EXPECT_EQ(progress.trials_total, 6U);
    }
    EXPECT_EQ(sink.updates.back().trials_done, 6U);
    EXPECT_EQ(sink.updates.back().faulty, 1U);
}

TEST(Sweep, WhereItsFilesCannotBeWrittenItSaysThatTheJournalHasAll) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, noiseless);
    RecordingSink sink;
    run_sweep(options, sink);
    const std::string file = options.out_folder + "/results.json";
    std::filesystem::remove(file);
    std::filesystem::create_directories(file + "/in the way");
    const SweepOptions again = options_from_journal(options.out_folder);
    try {
        run_sweep(again, sink);
        FAIL() << "a folder was written over";
    } catch (const SystemError& error) {
        const std::string what = error.what();
        EXPECT_EQ(what.rfind(file + ": cannot be written: ", 0), 0U) << what;
        const std::string advice =
            "; every trial that was measured is in the journal, and normtune sweep --resume " + options.out_folder + " goes on from there";
        EXPECT_NE(what.find(advice), std::string::npos) << what;
    }
    std::filesystem::remove_all(file);
    EXPECT_EQ(run_sweep(again, sink).results.records.size(), 6U);
    EXPECT_TRUE(std::filesystem::is_regular_file(file));
}

TEST(Sweep, ADifferentSelectionIsNotResumed) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, noiseless);
    RecordingSink sink;
    run_sweep(options, sink);
    options.resume = true;
    EXPECT_EQ(run_sweep(options, sink).results.records.size(), 6U);
    options.seed = 77;
    try {
        run_sweep(options, sink);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("seed (there 0, now 77)"), std::string::npos) << error.what();
    }
    options.seed = 0;
    folder.write("script.yaml", "device: {compute_units: 3}\n");  // a part of it
    EXPECT_THROW(run_sweep(options, sink), InputError);
    folder.write("script.yaml", "device: {name: other}\n");
    EXPECT_THROW(run_sweep(options, sink), InputError);
}

}  // namespace
}  // namespace normtune
