// A sweep in shards, merged, is the sweep.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run/sweep_fixture.h"
#include "run/sweep_text.h"
#include "store/merge.h"
#include "support/error.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

std::vector<Problem> some_problems() {
    return {small_problem(256, 1024), small_problem(16, 128),   small_problem(4096, 512),
            small_problem(64, 4096),  small_problem(1024, 256), small_problem(32, 2048)};
}

SweepResult swept(SweepOptions options) {
    RecordingSink sink;
    return run_sweep(options, sink);
}

/// All shards of it, last first, as files that were read back.
Merged sweep_in_shards(const TemporaryFolder& folder, const SweepOptions& whole, int count) {
    std::vector<NamedResults> parts;
    for (int index = count; index >= 1; --index) {
        SweepOptions options = whole;
        options.shard = {index, count};
        options.out_folder = folder.make_folder(fmt::format("shard-{}", index));
        swept(options);
        parts.push_back({options.out_folder, read_results_json(options.out_folder)});
    }
    return merge_results(parts, {});
}

nlohmann::json without_time(const Record& record) {
    nlohmann::json json = to_json(record);
    json.erase("timestamp");
    return json;
}

TEST(ShardedSweep, OnScriptedTimesMergesToTheSame) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "noise: {sigma: 0.02}\ntimings: [{config: '*', copies: 1.1, spread: 0.3}]\n");
    options.problems = some_problems();
    const Results whole = swept(options).results;
    const Merged merged = sweep_in_shards(folder, options, 3);
    ASSERT_EQ(merged.refused, "");
    ASSERT_EQ(merged.results.records.size(), whole.records.size());
    ASSERT_GT(whole.records.size(), 6U);
    for (std::size_t i = 0; i < whole.records.size(); ++i) {
        EXPECT_EQ(without_time(merged.results.records[i]), without_time(whole.records[i]));
    }
    ASSERT_EQ(merged.results.plans.size(), whole.plans.size());
    for (std::size_t i = 0; i < whole.plans.size(); ++i) {
        EXPECT_EQ(merged.results.plans[i].problem_key, whole.plans[i].problem_key);
        EXPECT_EQ(merged.results.plans[i].kept, whole.plans[i].kept);
    }
}

TEST(ShardedSweep, OnTheCpuMergesToTheSameTrials) {
    const TemporaryFolder folder;
    SweepOptions options;
    options.command = {"normtune", "sweep"};
    options.problems = {small_problem(16, 512), small_problem(64, 256), small_problem(1, 1024)};
    options.space = load_space("quick");
    options.strategy = find_strategy("random");
    options.most_trials_per_problem = 3;
    options.cold = false;
    options.stop_rule.most_rounds = 3;
    options.round_time_us = 1000;
    options.out_folder = folder.make_folder("whole");
    const Results whole = swept(options).results;
    const Merged merged = sweep_in_shards(folder, options, 2);
    ASSERT_EQ(merged.refused, "");
    ASSERT_EQ(merged.results.records.size(), whole.records.size());
    for (std::size_t i = 0; i < whole.records.size(); ++i) {
        const Record& ours = merged.results.records[i];
        EXPECT_EQ(ours.trial_key(), whole.records[i].trial_key());
        EXPECT_EQ(ours.outcome, Outcome::passed) << ours.reason;
        EXPECT_EQ(ours.repeat, whole.records[i].repeat);
        ASSERT_TRUE(ours.verification && whole.records[i].verification);
        EXPECT_EQ(to_json(*ours.verification), to_json(*whole.records[i].verification)) << "the inputs are the same";
    }
}

TEST(ShardedSweep, MoreShardsThanProblemsLeaveEmptyOnes) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "seed: 1\n");
    options.problems = {small_problem(), small_problem(16, 128)};
    options.shard = {3, 3};
    const SweepResult empty = swept(options);
    EXPECT_FALSE(empty.interrupted);
    EXPECT_TRUE(empty.results.records.empty());
    const Results read = read_results_json(options.out_folder);
    ASSERT_TRUE(read.sweep);
    EXPECT_EQ(read.sweep->present, std::vector<int>{3});
    EXPECT_EQ(read.sweep->problems, 2U);
    EXPECT_EQ(sweep_in_shards(folder, options, 3).results.plans.size(), 2U);
}

TEST(ShardedSweep, ResumesItsOwnShardAndNoOther) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "seed: 1\n");
    options.problems = some_problems();
    options.shard = {2, 3};
    const std::size_t trials = swept(options).results.records.size();
    const SweepOptions back = options_from_journal(options.out_folder);
    EXPECT_EQ(back.shard, options.shard);
    EXPECT_EQ(back.problems.size(), 6U) << "the journal has the whole selection, so that the division can be repeated";
    EXPECT_EQ(swept(back).results.records.size(), trials);
    options.resume = true;
    options.shard = {1, 3};
    try {
        swept(options);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("differs in shard (there \"2/3\", now \"1/3\")"), std::string::npos) << error.what();
    }
}

TEST(ShardedSweep, AJournalFromBeforeThereWereShardsIsOfAWholeSweep) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "seed: 1\n");
    std::string old = sweep_to_text(options);
    const std::string member = "\"shard\":\"1/1\",";
    ASSERT_NE(old.find(member), std::string::npos);
    old.erase(old.find(member), member.size());
    EXPECT_NO_THROW(require_same_sweep("run", old, options));
    EXPECT_TRUE(sweep_from_text(old).shard.whole());
    options.shard = {1, 2};
    EXPECT_THROW(require_same_sweep("run", old, options), InputError);
}

TEST(ShardedSweep, ShardsHaveOneDigestAndOtherSweepsAnother) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "seed: 1\n");
    const SweepIdentity whole = sweep_identity(options);
    options.shard = {2, 3};
    options.ordinals = {1};
    options.budget_s = 60;
    EXPECT_EQ(sweep_identity(options).digest, whole.digest);
    EXPECT_EQ(sweep_identity(options).shards, 3);
    options.seed = 1;
    EXPECT_NE(sweep_identity(options).digest, whole.digest);
    EXPECT_EQ(sweep_identity(options).space, whole.space);
    options.space.axes[0].values.pop_back();
    EXPECT_NE(sweep_identity(options).space, whole.space);
}

}  // namespace
}  // namespace normtune
