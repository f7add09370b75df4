#include "store/merge.h"

#include <gtest/gtest.h>

#include "store/sample_results.h"
#include "support/error.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::sample_trial;

Problem problem_of(std::int64_t cols) {
    Problem problem;
    problem.shape = {64, cols, cols};
    return problem;
}

Configuration with_warps(int warps) {
    Configuration configuration;
    configuration.num_warps = warps;
    return configuration;
}

/// A run's problems by their cols, two trials each, and nothing else.
Results run_of(const std::vector<std::int64_t>& cols) {
    Results results;
    results.environment = testing::sample_results().environment;
    results.command = {"normtune", "sweep"};
    for (const std::int64_t one : cols) {
        const Problem problem = problem_of(one);
        results.plans.push_back({problem.key(), 4, 2, {{"rule", "expression", 2}}});
        results.records.push_back(sample_trial(problem, with_warps(1), 20, 2));
        results.records.push_back(sample_trial(problem, with_warps(4), 10, 1));
    }
    return results;
}

/// Of a selection of the problems of 1, 2, 3 and 4 columns, divided into two.
Results shard_of(int index, const std::vector<std::int64_t>& cols) {
    Results results = run_of(cols);
    results.sweep = SweepIdentity{"digest", "space", 4, 2, {index}};
    for (std::size_t i = 0; i < cols.size(); ++i) {
        results.plans[i].place = static_cast<std::uint64_t>(cols[i] - 1);
    }
    return results;
}

std::vector<std::int64_t> cols_of(const Merged& merged) {
    EXPECT_EQ(merged.refused, "");
    std::vector<std::int64_t> cols;
    for (std::size_t i = 0; i < merged.results.records.size(); i += 2) {
        cols.push_back(merged.results.records[i].problem.shape.cols);
        EXPECT_EQ(merged.results.plans.at(i / 2).problem_key, merged.results.records[i].problem.key());
        EXPECT_EQ(merged.results.records[i].candidate, with_warps(1)) << "a problem's trials keep their order";
        EXPECT_EQ(merged.results.records.at(i + 1).candidate, with_warps(4));
    }
    return cols;
}

using Cols = std::vector<std::int64_t>;

TEST(Merge, ShardsComeInTheOrderOfTheSelection) {
    const NamedResults a{"a", shard_of(1, {1, 4})};
    const NamedResults b{"b", shard_of(2, {2, 3})};
    const Merged merged = merge_results({b, a}, {});
    EXPECT_EQ(cols_of(merged), (Cols{1, 2, 3, 4}));
    EXPECT_EQ(merged.incomplete, "");
    ASSERT_TRUE(merged.results.sweep);
    EXPECT_EQ(merged.results.sweep->present, (std::vector<int>{1, 2}));
    EXPECT_EQ(merged.results.merged.size(), 2U);
}

TEST(Merge, OtherRunsComeInTheOrderOfTheFiles) {
    const NamedResults a{"a", run_of({7, 5})};
    const NamedResults b{"b", run_of({6})};
    EXPECT_EQ(cols_of(merge_results({a, b}, {})), (Cols{7, 5, 6}));
    EXPECT_EQ(cols_of(merge_results({b, a}, {})), (Cols{6, 7, 5}));
    const NamedResults first{"first", shard_of(1, {1, 4})};
    const NamedResults second{"second", shard_of(2, {2, 3})};
    const Merged mixed = merge_results({second, a, first}, {});
    EXPECT_EQ(cols_of(mixed), (Cols{1, 2, 3, 4, 7, 5})) << "shards of one sweep stand together";
    EXPECT_FALSE(mixed.results.sweep);
}

TEST(Merge, MissingShardsAreNamed) {
    Results two_of_four = shard_of(1, {1});
    two_of_four.sweep->shards = 4;
    two_of_four.sweep->present = {1, 3};
    const Merged refused = merge_results({{"a", two_of_four}}, {});
    EXPECT_EQ(refused.refused, "missing of the sweep of a: shards 2/4, 4/4; --partial merges what is there");
    const Merged partial = merge_results({{"a", two_of_four}}, {{}, true});
    EXPECT_EQ(partial.refused, "");
    EXPECT_EQ(partial.incomplete, "missing of the sweep of a: shards 2/4, 4/4");
    EXPECT_EQ(partial.results.sweep->present, (std::vector<int>{1, 3}));

    // What was merged in part is completed later; what is in both is taken once.
    const NamedResults first{"first", shard_of(1, {1, 4})};
    const NamedResults second{"second", shard_of(2, {2, 3})};
    Merged half = merge_results({first}, {{}, true});
    EXPECT_EQ(cols_of(merge_results({second, {"half", half.results}, first}, {})), (Cols{1, 2, 3, 4}));
}

TEST(Merge, ShardsThatWereDividedOtherwiseAreNotWhole) {
    const Merged lost = merge_results({{"a", shard_of(1, {1})}, {"b", shard_of(2, {2, 3})}}, {});
    EXPECT_EQ(lost.refused.rfind("1 problem is in no shard of the sweep of a", 0), 0U) << lost.refused;
    Results whole = shard_of(1, {1, 2, 3, 4});
    whole.sweep->shards = 1;
    EXPECT_EQ(merge_results({{"a", shard_of(1, {1, 4})}, {"b", whole}}, {{}, true}).refused,
              "a is of a sweep in 2 shards, and b of the same sweep in 1; merge one of them");
}

TEST(Merge, InterruptedSweepsAreNotWhole) {
    Results cut = run_of({1});
    cut.plans[0].pruned.push_back({std::string(interrupted_rule), "", 17});
    EXPECT_EQ(merge_results({{"cut", cut}}, {}).refused,
              "cut was interrupted with 17 trials to do, which normtune sweep --resume does; --partial merges what is there");
    EXPECT_EQ(merge_results({{"cut", cut}}, {{}, true}).refused, "");
}

TEST(Merge, SweepsThatWereInterruptedBehindTheirLastTrialAreNotWhole) {
    Results cut = run_of({1, 2});
    cut.plans[1].pruned.push_back({std::string(interrupted_rule), "the finals were not held", 0});
    EXPECT_EQ(merge_results({{"cut", cut}}, {}).refused, "cut was interrupted with 1 problem to finish (" + problem_of(2).key() +
                                                             ": the finals were not held), which normtune sweep --resume does; "
                                                             "--partial merges what is there");
    EXPECT_EQ(merge_results({{"cut", cut}}, {{}, true}).refused, "");
}

TEST(Merge, OfWhatWasMergedWithAnInterruptedShardTheShardIsResumed) {
    Results cut = shard_of(1, {1, 4});
    cut.plans[0].pruned.push_back({std::string(interrupted_rule), "", 1});
    const Results part = merge_results({{"cut", cut}}, {{}, true}).results;
    EXPECT_EQ(merge_results({{"part", part}, {"second", shard_of(2, {2, 3})}}, {}).refused,
              "part was merged of sweeps one of which was interrupted, with 1 trial to do; resume that one, and merge them again; "
              "--partial merges what is there");
}

TEST(Merge, ATrialIsTakenOnceOrRefused) {
    const Results a = run_of({1, 2});
    Results b = run_of({2, 3});
    EXPECT_EQ(cols_of(merge_results({{"a", a}, {"b", b}}, {})), (Cols{1, 2, 3}));
    b.records[1].measurement->p50_us += 0.5;
    EXPECT_EQ(merge_results({{"a", a}, {"b", b}}, {}).refused, "a and b both have the trial " + problem_of(2).key() + " " +
                                                                   with_warps(4).key() + ", with different results; leave out one of them");
    b = run_of({2});
    b.records[1].candidate = with_warps(8);
    const std::string other = merge_results({{"a", a}, {"b", b}}, {}).refused;
    EXPECT_EQ(other.rfind("a and b both swept " + problem_of(2).key() + ", but not the same configurations", 0), 0U) << other;
    b.records.pop_back();
    EXPECT_NE(merge_results({{"a", a}, {"b", b}}, {}).refused, "");
}

TEST(Merge, WhatIsNotAlikeIsRefusedUnlessAllowed) {
    const NamedResults a{"a", run_of({1})};
    const auto differing = [](auto change) {
        NamedResults b{"b", run_of({2})};
        change(b.results);
        return b;
    };
    const std::vector<std::pair<MergeFacet, NamedResults>> cases{
        {MergeFacet::device, differing([](Results& r) { r.environment.device.name = "H200"; })},
        {MergeFacet::device, differing([](Results& r) { r.environment.device.arch = "sm_100"; })},
        {MergeFacet::device, differing([](Results& r) { r.environment.device.compute_units = 1; })},
        {MergeFacet::driver, differing([](Results& r) { r.environment.device.driver = "9.9"; })},
        {MergeFacet::version, differing([](Results& r) { r.environment.normtune_version = "9.9"; })},
        {MergeFacet::version, differing([](Results& r) { r.environment.source_revision = "fedcba9"; })},
        {MergeFacet::cold, differing([](Results& r) { r.records[0].measurement->cold = false; })},
    };
    for (const auto& [facet, b] : cases) {
        const std::string name(merge_facet_names.name(facet));
        const std::string refused = merge_results({a, b}, {}).refused;
        EXPECT_EQ(refused.rfind("a and b differ in " + name + " (", 0), 0U) << refused;
        EXPECT_NE(refused.find("; --across " + name + " merges them nevertheless"), std::string::npos) << refused;
        EXPECT_EQ(cols_of(merge_results({a, b}, {{facet}, false})), (Cols{1, 2}));
    }
    NamedResults spaced = a;
    spaced.results.sweep = SweepIdentity{"one", "0123456789", 1, 1, {1}};
    NamedResults other{"b", run_of({2})};
    other.results.sweep = SweepIdentity{"two", "fedcba9876", 1, 1, {1}};
    EXPECT_EQ(merge_results({spaced, other}, {}).refused,
              "a and b differ in space (01234567 and fedcba98); --across space merges them nevertheless");
    EXPECT_EQ(cols_of(merge_results({spaced, other}, {{MergeFacet::space}, false})), (Cols{1, 2}));
}

TEST(Merge, APartOfADeviceIsAnotherDevice) {
    const NamedResults whole{"whole", run_of({1})};
    NamedResults part{"part", run_of({2})};
    part.results.environment.device.compute_units = 1;
    EXPECT_EQ(
        merge_results({whole, part}, {}).refused,
        "whole and part differ in device (Example CPU, 2 \"fast\" cores x86-64-avx2, 2 compute units and Example CPU, 2 \"fast\" cores "
        "x86-64-avx2, 1 compute unit); --across device merges them nevertheless");
    const NamedResults both{"both", merge_results({whole, part}, {{MergeFacet::device}, false}).results};
    EXPECT_NE(merge_results({both, {"third", run_of({3})}}, {}).refused.find(", 1;2 compute units and "), std::string::npos)
        << "what was merged of both is not of the first alone";
}

TEST(Merge, TheEnvironmentSaysAllThatTookPart) {
    NamedResults a{"a", run_of({1})};
    NamedResults b{"b", run_of({2})};
    b.results.environment.hostname = "bench-2";
    a.results.environment.compiler = b.results.environment.compiler = "GCC 12.2.0";
    b.results.environment.started = "2026-11-20T22:00:00Z";
    b.results.command = {"normtune", "sweep", "--tokens", "2"};
    const Results both = merge_results({a, b}, {}).results;
    EXPECT_EQ(both.environment.hostname, "bench-1;bench-2");
    EXPECT_EQ(both.environment.compiler, "GCC 12.2.0");
    EXPECT_EQ(both.environment.started, "2026-11-20T22:00:00Z");
    EXPECT_EQ(both.environment.device.driver, a.results.environment.device.driver);
    const Results three = merge_results({{"both", both}, {"c", run_of({3})}}, {}).results;
    ASSERT_EQ(three.merged.size(), 3U) << "runs that were merged before are named one by one";
    EXPECT_EQ(three.merged[1].command, b.results.command);
    EXPECT_EQ(three.environment.hostname, "bench-1;bench-2");
}

TEST(Merge, EveryRecordOfEveryFileIsKeptOrTheFileIsRefused) {
    const auto error_of = [](const Results& results) -> std::string {
        try {
            merge_results({{"a", results}, {"b", run_of({2})}}, {});
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    };
    Results without_plans = run_of({1});
    without_plans.plans.clear();
    EXPECT_EQ(error_of(without_plans),
              "a: has records of " + problem_of(1).key() + ", and its \"plans\" do not have that problem: the file is damaged");
    Results twice = run_of({1});
    twice.records.push_back(twice.records.front());
    EXPECT_EQ(error_of(twice), "a: has the trial " + twice.records.front().trial_key() + " twice: the file is damaged");
}

}  // namespace
}  // namespace normtune
