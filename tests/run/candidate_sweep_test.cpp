// Kernels of other providers in a sweep, on the replay device.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/winners.h"
#include "run/sweep_fixture.h"
#include "run/worker/protocol.h"
#include "store/journal.h"
#include "store/winner_store.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "trial/manifest_fixture.h"

namespace normtune {
namespace {

using testing::manifest_json;
using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;
using testing::write_candidate;

constexpr const char* vendor_script =
    "seed: 1\nnoise: {sigma: 0.002}\ntimings:\n  - {config: 'vendor:*', copies: 1.05}\n  - {config: '*.r4.*', copies: 1.1}\n"
    "  - {config: '*', copies: 1.4}\n";

using Folder = std::shared_ptr<const KernelFolder>;

Folder vendor(const TemporaryFolder& folder, const std::string& name = "vendor", const Problem& problem = small_problem()) {
    return KernelFolder::load(write_candidate(folder, name, manifest_json(problem)));
}

SweepOptions with_candidate(const TemporaryFolder& folder, const std::string& out = "out") {
    SweepOptions options = small_sweep(folder, vendor_script, out);
    options.candidates.folders = {vendor(folder)};
    return options;
}

const Record& of(const SweepResult& result, const std::string& identity) {
    const auto& records = result.results.records;
    const auto found = std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.candidate.identity() == identity; });
    EXPECT_NE(found, records.end()) << identity;
    return *found;
}

std::string refusal(const SweepOptions& options) {
    RecordingSink sink;
    try {
        run_sweep(options, sink);
    } catch (const InputError& error) {
        return error.what();
    }
    return "was taken";
}

TEST(CandidateSweep, TheCandidateIsMeasuredAndRankedBesideTheOwnConfigurations) {
    for (const std::string name : {"exhaustive", "racing", "random"}) {
        const TemporaryFolder folder;
        RecordingSink sink;
        SweepOptions options = with_candidate(folder);
        options.strategy = find_strategy(name);
        options.most_trials_per_problem = name == "random" ? 2 : 0;
        const SweepResult result = run_sweep(options, sink);
        EXPECT_EQ(result.results.records.size(), name == "random" ? 3U : 7U);
        const Record& record = of(result, "vendor:norm_v2");
        EXPECT_EQ(record.outcome, Outcome::passed);
        EXPECT_EQ(record.measurement->rank, 1);
        EXPECT_NE(record.repeat.find("--candidates-only --candidate " + folder.path("vendor")), std::string::npos) << record.repeat;
        const std::vector<Winner> winners = find_winners(result.results);
        ASSERT_EQ(winners.size(), 1U);
        EXPECT_EQ(winners[0].record->candidate, record.candidate);
        EXPECT_TRUE(std::ranges::any_of(result.results.records, [](const Record& r) {
            return r.candidate.configuration() != nullptr && r.measurement->final_rounds_us.size() >= 6;
        })) << "of each provider the fastest is in the finals";
        const PlanSummary& plan = result.results.plans.at(0);
        std::uint64_t sum = plan.kept;
        for (const PlanSummary::Pruned& tally : plan.pruned) {
            sum += tally.count;
        }
        EXPECT_EQ(sum, plan.points);
    }
}

TEST(CandidateSweep, HeuristicsAreJudgedByTheOwnConfigurationsAlone) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = with_candidate(folder);
    options.strategy = find_strategy("racing");
    const SweepResult result = run_sweep(options, sink);
    const std::vector<ProblemRanking> own = problem_rankings(result.results, Whose::own);
    ASSERT_EQ(own.size(), 1U);
    ASSERT_NE(own[0].winner->candidate.configuration(), nullptr);
    EXPECT_EQ(own[0].winner->candidate.configuration()->rows_per_program, 4);
    EXPECT_EQ(own[0].standings.size(), 6U);
    EXPECT_EQ(own[0].of_others, 1U);
    EXPECT_EQ(problem_rankings(result.results)[0].standings.size(), 7U);
}

TEST(CandidateSweep, AloneItIsAllThereIs) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = with_candidate(folder);
    options.candidates.alone = true;
    options.problems.push_back(small_problem(512));
    options.candidates.folders.push_back(vendor(folder, "second"));
    const SweepResult result = run_sweep(options, sink);
    ASSERT_EQ(result.results.records.size(), 2U);
    EXPECT_EQ(result.results.records[0].candidate.identity(), "vendor:norm_v2");
    EXPECT_EQ(result.results.records[1].candidate.identity(), "second:norm_v2");
    EXPECT_EQ(result.results.plans.at(1).kept, 0U);
}

TEST(CandidateSweep, IsResumedWithWhatItBeganWith) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = with_candidate(folder);
    const SweepResult whole = run_sweep(options, sink);
    const std::string journal = options.out_folder + "/journal.jsonl";
    const std::string text = read_file(journal, std::size_t{1} << 24);
    // As a kill leaves it: some trials, then a part of a line.
    const auto cut = [&] { folder.write("out/journal.jsonl", text.substr(0, text.size() / 2)); };
    cut();
    const SweepResult resumed = run_sweep(options_from_journal(options.out_folder), sink);
    ASSERT_EQ(resumed.results.records.size(), whole.results.records.size());
    for (std::size_t i = 0; i < whole.results.records.size(); ++i) {
        EXPECT_EQ(resumed.results.records[i].candidate, whole.results.records[i].candidate);
    }
    EXPECT_EQ(of(resumed, "vendor:norm_v2").measurement->rank, 1);

    cut();
    options.resume = true;
    EXPECT_EQ(run_sweep(options, sink).results.records.size(), 7U);
    options.candidates = {};
    EXPECT_NE(refusal(options).find("differs in candidates"), std::string::npos) << refusal(options);
    folder.write("vendor/kernel.cubin", "other code");
    try {
        options_from_journal(options.out_folder);
        FAIL() << "a folder that changed was taken";
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(), folder.path("vendor") + ": has changed since the run began with it; start a new run in another folder");
    }
}

TEST(CandidateSweep, AFaultIsAnOutcomeAndTheOthersGoOn) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = with_candidate(folder);
    folder.write("script.yaml",
                 std::string(vendor_script) + "faults:\n  - {config: 'vendor:*', at: verify, do: incorrect, text: y is off}\n");
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(of(result, "vendor:norm_v2").outcome, Outcome::incorrect);
    EXPECT_EQ(of(result, "vendor:norm_v2").reason, "y is off");
    EXPECT_EQ(result.incorrect, 1U);
    EXPECT_EQ(find_winners(result.results).size(), 1U);
}

TEST(CandidateSweep, ACpuSaysThatItRunsOwnKernelsAlone) {
    const TemporaryFolder folder;
    RecordingSink sink;
    SweepOptions options = with_candidate(folder);
    options.backend = Backend::cpu;
    options.candidates.alone = true;
    options.verify_only = true;
    const SweepResult result = run_sweep(options, sink);
    ASSERT_EQ(result.results.records.size(), 1U);
    EXPECT_EQ(result.results.records[0].outcome, Outcome::unsupported);
    EXPECT_EQ(result.results.records[0].reason, "vendor:norm_v2 runs on GPUs alone");
}

TEST(CandidateSweep, TheStoreKeepsWhatWasFoundBesideItApart) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const auto race = [&](const std::string& out, bool candidate) {
        SweepOptions options = small_sweep(folder, vendor_script, out);
        options.strategy = find_strategy("racing");
        options.store = folder / "winners.sqlite3";
        if (candidate) {
            options.candidates.folders = {vendor(folder, out)};
        }
        return run_sweep(options, sink);
    };
    const auto stored = [](const SweepResult& result) { return result.results.plans.at(0).stored(); };
    EXPECT_FALSE(stored(race("plain", false)));
    EXPECT_FALSE(stored(race("vendor", true)));
    EXPECT_TRUE(stored(race("plain2", false)));
    SweepOptions again = small_sweep(folder, vendor_script, "again");
    again.strategy = find_strategy("racing");
    again.store = folder / "winners.sqlite3";
    again.candidates.folders = {KernelFolder::load(folder.path("vendor"))};
    const SweepResult taken = run_sweep(again, sink);
    EXPECT_TRUE(stored(taken));
    EXPECT_EQ(of(taken, "vendor:norm_v2").measurement->rank, 1);
    ASSERT_EQ(find_winners(taken.results, Whose::own).size(), 1U);  // no finalist, but kept
    EXPECT_EQ(find_winners(taken.results, Whose::own)[0].record->candidate.configuration()->rows_per_program, 4);
}

TEST(CandidateSweep, WhatFitsNoTrialIsRefused) {
    const TemporaryFolder folder;
    SweepOptions options = with_candidate(folder);
    options.candidates.folders = {vendor(folder, "other", small_problem(512))};
    EXPECT_NE(refusal(options).find("is for rms_norm/forward/bf16/llama/512x1024, which is not among the selected problems"),
              std::string::npos)
        << refusal(options);
    Problem eps = small_problem();
    eps.operation.eps = 1e-5;
    options.candidates.folders = {vendor(folder, "eps", eps)};
    EXPECT_NE(refusal(options).find("with an eps of 1e-05, and the selected one has 1e-06"), std::string::npos) << refusal(options);
    const Folder one = vendor(folder);
    options.candidates.folders = {one, one};
    EXPECT_NE(refusal(options).find("is a second vendor:norm_v2 for"), std::string::npos) << refusal(options);
}

TEST(CandidateSweep, TheWorkerGetsTheWholeManifest) {
    const TemporaryFolder folder;
    const Candidate candidate(vendor(folder)->single());
    const Request request = decode_request(encode(Request(BuildRequest{3, candidate, true}), 1)).message;
    const Candidate& built = std::get<BuildRequest>(request).candidate;
    EXPECT_EQ(built, candidate);
    ASSERT_NE(built.manifest(), nullptr);
    EXPECT_EQ(digest(*built.manifest()), digest(*candidate.manifest()));
    EXPECT_EQ(read_code(*built.manifest()), "machine code");
    const Request ahead = decode_request(encode(Request(AheadRequest{{Configuration{}, candidate}, true, {}}), 2)).message;
    EXPECT_EQ(std::get<AheadRequest>(ahead).candidates, (std::vector<Candidate>{Configuration{}, candidate}));
}

TEST(CandidateSweep, TunablesAreTrialsLikeOwnConfigurations) {
    const TemporaryFolder folder;
    RecordingSink sink;
    nlohmann::json launch = manifest_json(small_problem());
    for (const char* of_one : {"problem", "eps", "arch"}) {
        launch.erase(of_one);
    }
    launch["schema_version"] = 2;
    launch["claims"] = {{"op", "rms_norm"}, {"mode", "forward"}, {"dtype", "bf16"}, {"casting", "llama"}};
    launch["code"] = {{"file", "norm.cu"}};
    launch["tunables"] = {{"THREADS", {32, 64, 128}}, {"VECTOR", {1, 2}}};
    launch["rules"] = {{{"name", "few"}, {"keep", "THREADS * VECTOR <= 128"}}};
    launch["launches"][0]["block"] = {"THREADS", 1, 1};
    const auto write = [&](const std::string& name) {
        write_candidate(folder, name, launch);
        folder.write(name + "/norm.cu", "source");
        return KernelFolder::load(folder.path(name));
    };
    SweepOptions options = small_sweep(folder, "timings:\n  - {config: 'tuned:*THREADS=64.VECTOR=2', us: 1}\n  - {config: '*', us: 2}\n");
    options.candidates.folders = {write("tuned")};
    options.problems.push_back(small_problem(512));
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(result.results.records.size(), 2 * (6U + 5U));
    const PlanSummary& plan = result.results.plans.at(0);
    EXPECT_EQ(plan.kept, 6U + 5U);
    const auto few =
        std::find_if(plan.pruned.begin(), plan.pruned.end(), [](const PlanSummary::Pruned& p) { return p.rule == "tuned.few"; });
    ASSERT_NE(few, plan.pruned.end());
    EXPECT_EQ(few->count, 1U);
    const Record& best = of(result, "tuned:norm_v2.THREADS=64.VECTOR=2");
    EXPECT_EQ(best.measurement->rank, 1);
    EXPECT_NE(best.repeat.find("--config tuned:norm_v2.THREADS=64.VECTOR=2"), std::string::npos) << best.repeat;
    // One alone, as the repeat line says.
    SweepOptions one = small_sweep(folder, "timings: [{config: '*', us: 2}]\n", "one");
    one.candidates = {options.candidates.folders, true, best.candidate.identity()};
    ASSERT_EQ(run_sweep(one, sink).results.records.size(), 1U);
    one.resume = true;
    EXPECT_EQ(run_sweep(one, sink).results.records.size(), 1U);
    EXPECT_EQ(options_from_journal(one.out_folder).candidates.only, best.candidate.identity());
    one = small_sweep(folder, vendor_script, "none");
    one.candidates = {options.candidates.folders, true, "tuned:norm_v2.THREADS=1024.VECTOR=2"};
    EXPECT_NE(refusal(one).find("no tuned:norm_v2.THREADS=1024.VECTOR=2 is left on the selected problems"), std::string::npos)
        << refusal(one);
    one.candidates = {{options.candidates.folders[0], options.candidates.folders[0]}, true, ""};
    EXPECT_NE(refusal(one).find("is a second tuned:norm_v2.THREADS=32.VECTOR=1 for"), std::string::npos) << refusal(one);
    one.candidates = {{write("again")}, true, ""};
    one.strategy = find_strategy("random");
    one.most_trials_per_problem = 2;
    EXPECT_EQ(run_sweep(one, sink).results.records.size(), 2U);
}

}  // namespace
}  // namespace normtune
