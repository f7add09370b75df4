// What a sweep takes from the store of winners and gives to it, seen from its results.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "report/winners.h"
#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "store/merge.h"
#include "store/winner_store.h"
#include "support/atomic_file.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

constexpr const char* noisy_script = R"(
noise: {sigma: 0.005}
timings:
  - {config: '*.r4.*', us: 200}
  - {config: '*.r2.*', us: 202}
  - {config: '*.r32.*', us: 800}
  - {config: '*', us: 300}
)";

SweepOptions stored_race(const TemporaryFolder& folder, const char* out, const char* text = noisy_script) {
    SweepOptions options = small_sweep(folder, text, out);
    options.strategy = find_strategy("racing");
    options.store = folder.path("store");
    return options;
}

std::size_t stored_problems(const SweepResult& result) {
    std::size_t count = 0;
    for (const PlanSummary& plan : result.results.plans) {
        count += plan.stored() ? 1 : 0;
    }
    return count;
}

std::size_t in_store(const TemporaryFolder& folder) {
    std::optional<WinnerStore> store = WinnerStore::open(folder.path("store"));
    return store ? store->all([](const std::string&) {}).size() : 0;
}

/// The problem's line in the table of winners, the mark apart.
std::string line_of(const SweepResult& result, std::size_t problem) {
    std::vector<Winner> winners = find_winners(result.results);
    winners.at(problem).stored = false;
    return winners_section({winners.at(problem)}).table.csv() + winners_section({winners.at(problem)}).note;
}

TEST(SweepStore, OnlyWhatIsNewIsMeasured) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const SweepResult first = run_sweep(stored_race(folder, "first"), sink);
    EXPECT_EQ(stored_problems(first), 0U);
    EXPECT_TRUE(sink.warnings.empty());

    SweepOptions options = stored_race(folder, "second");
    options.problems = {small_problem(512), small_problem()};
    options.problems[1].uses = {{"model", "site", 256}};
    options.seed = 7;
    options.budget_s = 100;
    const SweepResult second = run_sweep(options, sink);
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0], "from the store of winners: 1 of 2 problems; --fresh measures them again");
    ASSERT_EQ(second.results.plans.size(), 2U);
    EXPECT_FALSE(second.results.plans[0].stored());
    EXPECT_TRUE(second.results.plans[1].stored());
    EXPECT_EQ(line_of(second, 1), line_of(first, 0));
    for (const Record& record : second.results.records) {
        if (record.problem.shape.rows == 256) {
            EXPECT_EQ(record.problem.uses, options.problems[1].uses);
        }
    }
    for (const PlanSummary& plan : second.results.plans) {
        std::uint64_t sum = plan.kept;
        for (const PlanSummary::Pruned& tally : plan.pruned) {
            sum += tally.count;
        }
        EXPECT_EQ(sum, plan.points);
    }
    EXPECT_EQ(in_store(folder), 2U);
}

TEST(SweepStore, ABadRowCostsAWarningAndIsMeasuredAgain) {
    for (const char* sql : {"UPDATE winners SET records = replace(records, '\"rank\":1,', '\"rank\":9,')",
                            "UPDATE winners SET measured_at = '9999-01-01T00:00:00Z'"}) {
        const TemporaryFolder folder;
        RecordingSink sink;
        const SweepResult first = run_sweep(stored_race(folder, "first"), sink);
        sqlite::Database(folder.path("store"), sqlite::Missing::fail, 1000).execute(sql);
        const SweepResult second = run_sweep(stored_race(folder, "second"), sink);
        EXPECT_EQ(stored_problems(second), 0U);
        EXPECT_EQ(find_winners(second.results).size(), 1U);
        ASSERT_EQ(sink.warnings.size(), 1U) << sql;
        EXPECT_NE(sink.warnings[0].find("measuring that problem again replaces it"), std::string::npos) << sink.warnings[0];
        const SweepResult third = run_sweep(stored_race(folder, "third"), sink);
        EXPECT_EQ(stored_problems(third), 1U) << sql;
    }
}

TEST(SweepStore, TheRecordIsTheOneThatWasMeasured) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const SweepResult first = run_sweep(stored_race(folder, "first"), sink);
    const SweepResult second = run_sweep(stored_race(folder, "second"), sink);
    std::map<std::string, nlohmann::json> before;
    for (const Record& record : first.results.records) {
        before.emplace(record.candidate.identity(), to_json(record));
    }
    ASSERT_GE(second.results.records.size(), 2U);
    EXPECT_LT(second.results.records.size(), first.results.records.size());
    for (const Record& record : second.results.records) {
        EXPECT_EQ(to_json(record), before.at(record.candidate.identity()));  // its timestamp included
    }
}

TEST(SweepStore, WhateverDecidesATimeIsPartOfTheIdentity) {
    const std::vector<std::pair<const char*, std::function<void(const TemporaryFolder&, SweepOptions&)>>> changes{
        {"nothing", [](const TemporaryFolder&, SweepOptions&) {}},
        {"kernels", [](const TemporaryFolder& f, SweepOptions&) { f.write("script.yaml", std::string(noisy_script) + "seed: 3"); }},
        {"space",
         [](const TemporaryFolder&, SweepOptions& o) {
             o.space.axes.push_back({Axis::stages, {1}});
         }},
        {"cold or hot", [](const TemporaryFolder&, SweepOptions& o) { o.cold = false; }},
        {"rotation", [](const TemporaryFolder&, SweepOptions& o) { o.over_cache = 9; }},
        {"stop rule", [](const TemporaryFolder&, SweepOptions& o) { o.stop_rule.least_rounds = 5; }},
        {"eps", [](const TemporaryFolder&, SweepOptions& o) { o.problems[0].operation.eps = 1e-5; }},
    };
    for (const auto& [name, change] : changes) {
        const TemporaryFolder folder;
        RecordingSink sink;
        run_sweep(stored_race(folder, "first"), sink);
        SweepOptions options = stored_race(folder, "second");
        change(folder, options);
        EXPECT_EQ(stored_problems(run_sweep(options, sink)), std::string("nothing") == name ? 1U : 0U) << name;
        EXPECT_EQ(in_store(folder), std::string("nothing") == name ? 1U : 2U) << name;
    }
}

TEST(SweepStore, FreshMeasuresAgainAndReplaces) {
    const TemporaryFolder folder;
    RecordingSink sink;
    run_sweep(stored_race(folder, "first"), sink);
    SweepOptions options = stored_race(folder, "second");
    options.fresh = true;
    options.seed = 5;
    const SweepResult fresh = run_sweep(options, sink);
    EXPECT_EQ(stored_problems(fresh), 0U);
    EXPECT_TRUE(sink.warnings.empty());
    const SweepResult third = run_sweep(stored_race(folder, "third"), sink);
    EXPECT_EQ(stored_problems(third), 1U);
    EXPECT_EQ(line_of(third, 0), line_of(fresh, 0));
    EXPECT_EQ(in_store(folder), 1U);
}

TEST(SweepStore, ExhaustiveFillsAndNeverReadsRandomAndVerifyDoNeither) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = stored_race(folder, "random");
    options.strategy = find_strategy("random");
    options.most_trials_per_problem = 4;
    run_sweep(options, sink);
    options = stored_race(folder, "verify");
    options.verify_only = true;
    run_sweep(options, sink);
    EXPECT_EQ(in_store(folder), 0U);
    for (const char* out : {"once", "again"}) {
        options = stored_race(folder, out);
        options.strategy = find_strategy("exhaustive");
        EXPECT_EQ(run_sweep(options, sink).results.records.size(), 6U);
        EXPECT_EQ(in_store(folder), 1U);
    }
    EXPECT_EQ(stored_problems(run_sweep(stored_race(folder, "race"), sink)), 1U);
}

TEST(SweepStore, OneConfigurationIsMeasuredWheneverItIsAskedFor) {
    const TemporaryFolder folder;
    RecordingSink sink;
    for (const char* out : {"once", "again"}) {
        SweepOptions options = stored_race(folder, out);
        options.space.axes.front().values = {4};
        EXPECT_EQ(stored_problems(run_sweep(options, sink)), 0U);
    }
    EXPECT_EQ(in_store(folder), 0U);
}

TEST(SweepStore, WhatFailedOrDidNotFitIsNotKept) {
    const TemporaryFolder folder;
    RecordingSink sink;
    run_sweep(stored_race(folder, "faulty", "faults: [{config: '*.r8.*', at: compile, do: crash}]\n"), sink);
    EXPECT_EQ(in_store(folder), 0U);
    SweepOptions options = stored_race(folder, "short", "delays: {sample_ms: 3, compile_ms: 150}\n");
    options.budget_s = 0.3;
    EXPECT_LT(run_sweep(options, sink).results.records.size(), 6U);
    EXPECT_EQ(in_store(folder), 0U);
    options.resume = true;
    options.budget_s = 0;
    EXPECT_EQ(run_sweep(options, sink).results.records.size(), 6U);
    EXPECT_EQ(in_store(folder), 1U);  // a resumed sweep completes it
}

TEST(SweepStore, ResumedItGivesTheSameFiles) {
    const TemporaryFolder folder;
    RecordingSink sink;
    run_sweep(stored_race(folder, "first"), sink);
    SweepOptions options = stored_race(folder, "second");
    options.problems = {small_problem(), small_problem(512)};
    run_sweep(options, sink);
    const std::string json = read_file(options.out_folder + "/results.json");
    const std::string csv = read_file(options.out_folder + "/results.csv");
    std::filesystem::remove(folder.path("store"));  // what was taken is in the journal
    SweepOptions again = options_from_journal(options.out_folder);
    again.command = options.command;
    EXPECT_EQ(stored_problems(run_sweep(again, sink)), 1U);
    EXPECT_EQ(read_file(options.out_folder + "/results.json"), json);
    EXPECT_EQ(read_file(options.out_folder + "/results.csv"), csv);
}

/// Of a sweep that took its problem from the store.
std::string journal_from_the_store(const TemporaryFolder& folder, RecordingSink& sink) {
    run_sweep(stored_race(folder, "first"), sink);
    const SweepOptions options = stored_race(folder, "second");
    EXPECT_EQ(stored_problems(run_sweep(options, sink)), 1U);
    return options.out_folder + "/journal.jsonl";
}

TEST(SweepStore, AKillBeforeAllWasEnteredCostsAMeasurement) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const std::string path = journal_from_the_store(folder, sink);
    const std::string journal = read_file(path);
    write_file_atomically(path, journal.substr(0, journal.rfind("{\"final\"")));
    const SweepResult resumed = run_sweep(options_from_journal(folder.path("second")), sink);
    EXPECT_EQ(stored_problems(resumed), 0U);
    EXPECT_EQ(resumed.results.records.size(), 6U);
}

TEST(SweepStore, WhatAKillLeftOfStoredRecordsIsMeasuredAgain) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const std::string path = journal_from_the_store(folder, sink);
    std::string journal = read_file(path);
    constexpr std::string_view member = "\"timestamp\":\"";
    std::size_t end = 0;
    for (int record = 0; record < 2; ++record) {  // those that were entered, of another day
        const std::size_t at = journal.find(member, end);
        ASSERT_NE(at, std::string::npos);
        journal.replace(at + member.size(), 10, "2026-01-01");
        end = journal.find('\n', at) + 1;
    }
    write_file_atomically(path, journal.substr(0, end));
    for (const Record& record : run_sweep(options_from_journal(folder.path("second")), sink).results.records) {
        EXPECT_GT(record.timestamp, "2026-01-02") << record.candidate.identity();
    }
    EXPECT_EQ(read_journal(folder.path("second")).records.size(), 6U);
}

// Whose store was filled across the turn of a second, by a run that began in the second one.
TEST(SweepStore, RecordsOfTheSecondInWhichARunBeganMayBeStoredOnes) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const std::string path = journal_from_the_store(folder, sink);
    std::string journal = read_file(path);
    const std::string started = read_journal(folder.path("second")).header.environment.started;
    constexpr std::string_view member = "\"timestamp\":\"";
    int records = 0;
    for (std::size_t at = journal.find(member); at != std::string::npos; at = journal.find(member, at + 1), ++records) {
        journal.replace(at + member.size(), started.size(), records == 0 ? "2026-01-01T00:00:00Z" : started);
    }
    ASSERT_GT(records, 1);
    write_file_atomically(path, journal);
    EXPECT_EQ(stored_problems(run_sweep(options_from_journal(folder.path("second")), sink)), 1U);
}

TEST(SweepStore, ResumedWithOtherKernelsItSaysSo) {
    const TemporaryFolder folder;
    RecordingSink sink;
    journal_from_the_store(folder, sink);
    SweepOptions resumed = options_from_journal(folder.path("second"));
    resumed.store = folder.path("store");
    run_sweep(resumed, sink);
    const auto told = [&] {
        return std::ranges::count_if(sink.warnings,
                                     [](const std::string& line) { return line.starts_with("goes on with another build of the kernels"); });
    };
    EXPECT_EQ(told(), 0);
    folder.write("script.yaml", std::string(noisy_script) + "seed: 3");
    run_sweep(resumed, sink);
    EXPECT_EQ(told(), 1);
}

TEST(SweepStore, ResumedWithOtherKernelsItSaysSoWithoutAStore) {
    const TemporaryFolder folder;
    RecordingSink sink;
    journal_from_the_store(folder, sink);
    SweepOptions resumed = options_from_journal(folder.path("second"));
    resumed.store.clear();
    folder.write("script.yaml", std::string(noisy_script) + "seed: 3");
    run_sweep(resumed, sink);
    EXPECT_EQ(std::ranges::count_if(sink.warnings,
                                    [](const std::string& line) { return line.starts_with("goes on with another build of the kernels"); }),
              1);
}

TEST(SweepStore, ShardsThatTakeFromTheStoreMergeToTheWholeSweep) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions whole = stored_race(folder, "whole");
    whole.problems = {small_problem(), small_problem(512), small_problem(1024)};
    const SweepResult first = run_sweep(whole, sink);
    whole.out_folder = folder.make_folder("again");
    const SweepResult again = run_sweep(whole, sink);
    std::vector<NamedResults> parts;
    for (int i = 1; i <= 2; ++i) {
        SweepOptions part = whole;
        part.shard = {i, 2};
        part.out_folder = folder.make_folder("shard" + std::to_string(i));
        parts.push_back({part.out_folder, run_sweep(part, sink).results});
    }
    const Merged merged = merge_results(parts, {});
    ASSERT_EQ(merged.refused, "");
    EXPECT_EQ(winners_section(find_winners(merged.results)).table.csv(), winners_section(find_winners(again.results)).table.csv());
    EXPECT_EQ(merged.results.plans.size(), 3U);
}

TEST(SweepStore, AStoreThatCannotBeUsedCostsOneWarning) {
    const TemporaryFolder folder;
    folder.write("store", std::string(5000, 'x'));
    RecordingSink sink;
    const SweepResult result = run_sweep(stored_race(folder, "damaged"), sink);
    EXPECT_EQ(result.results.records.size(), 6U);
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].rfind("no store of winners: " + folder.path("store") + ": is damaged", 0), 0U) << sink.warnings[0];
    EXPECT_EQ(read_file(folder.path("store")), std::string(5000, 'x'));

    SweepOptions options = stored_race(folder, "unwritable");
    options.store = folder.path("store/below/a/file");
    RecordingSink other;
    EXPECT_EQ(run_sweep(options, other).results.records.size(), 6U);
    EXPECT_EQ(other.warnings.size(), 1U);
}

TEST(SweepStore, ProcessorsTakeTheirBuildsTimesAgain) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = stored_race(folder, "first");
    options.backend = Backend::cpu;
    options.replay_script.clear();
    options.problems = {small_problem(64, 1024)};
    options.space = load_space("quick");
    options.cold = false;
    options.stop_rule.most_rounds = 6;
    const SweepResult first = run_sweep(options, sink);
    ASSERT_GE(first.results.plans.at(0).kept, 2U);
    options.out_folder = folder.make_folder("second");
    const SweepResult second = run_sweep(options, sink);
    EXPECT_EQ(stored_problems(second), 1U);
    EXPECT_EQ(line_of(second, 0), line_of(first, 0));
}

}  // namespace
}  // namespace normtune
