// Trials that further worker processes measure again.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::by_rows;
using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

SweepOptions repeated(const TemporaryFolder& folder, const std::string& script, int processes, const std::string& out = "out") {
    SweepOptions options = small_sweep(folder, script, out);
    options.processes = processes;
    return options;
}

void expect_processes(const Record& record, const std::vector<int>& processes) {
    std::vector<int> found;
    for (const Repetition& repetition : record.measurement->repetitions) {
        found.push_back(repetition.process);
        EXPECT_GE(repetition.rounds.size(), 6U);
        EXPECT_GT(repetition.p50_us, 0);
        EXPECT_GT(repetition.limit_us, 0);
        EXPECT_GT(repetition.floor_us, 0);
    }
    EXPECT_EQ(found, processes) << record.candidate.key();
}

/// As if the sweep had been killed before it wrote these repetitions.
void cut_last_lines(const std::string& folder, int lines) {
    const std::string journal = folder + "/journal.jsonl";
    std::string text = read_file(journal);
    for (; lines > 0; --lines) {
        text.resize(text.rfind('\n', text.size() - 2) + 1);
    }
    std::ofstream(journal, std::ios::trunc) << text;
    ASSERT_FALSE(read_journal(folder).records.empty());
}

TEST(RepeatSweep, EachProcessMeasuresAllProblemsAfresh) {
    const TemporaryFolder folder;
    // What a process has sampled so far slows it down: a fresh one is as fast as the first was in its first rounds.
    SweepOptions options = repeated(folder, "noise: {sigma: 0.0001}\ndrift: {amplitude: 0.8, period_samples: 20000}\n", 3);
    options.problems.push_back(small_problem(512));
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    EXPECT_TRUE(sink.warnings.empty()) << sink.warnings.front();
    ASSERT_EQ(result.results.records.size(), 12U);
    for (const Record& record : result.results.records) {
        expect_processes(record, {2, 3});
        if (record.problem.shape.rows == 256) {
            for (const Repetition& repetition : record.measurement->repetitions) {
                EXPECT_NEAR(repetition.rounds[0].median_us / record.measurement->rounds[0].median_us, 1, 0.02);
            }
        } else {
            EXPECT_LT(record.measurement->repetitions[0].rounds[0].median_us, record.measurement->rounds[0].median_us)
                << "the first process had held finals by then";
        }
    }
}

TEST(RepeatSweep, ARaceRepeatsThoseThatItDidNotDrop) {
    const TemporaryFolder folder;
    SweepOptions options = repeated(folder, "noise: {sigma: 0.001}\ntimings: [{config: '*.r4.*', us: 20}, {config: '*', us: 60}]\n", 2);
    options.strategy = find_strategy("racing");
    RecordingSink sink;
    const auto records = by_rows(run_sweep(options, sink));
    ASSERT_EQ(records.size(), 6U);
    for (const auto& [rows, record] : records) {
        EXPECT_EQ(record.measurement->stop_reason == StopReason::dropped, rows != "r4") << rows;
        expect_processes(record, rows == "r4" ? std::vector<int>{2} : std::vector<int>{});
    }
    EXPECT_EQ(records.at("r4").measurement->rank, 1) << "the finals are the first process's";
}

TEST(RepeatSweep, ResumesWithTheRepetitionsThatAreMissing) {
    const TemporaryFolder folder;
    SweepOptions options = repeated(folder, "noise: {sigma: 0.001}\n", 3);
    RecordingSink sink;
    run_sweep(options, sink);
    cut_last_lines(options.out_folder, 9);  // the third process's six, and three of the second's
    SweepOptions resumed = options_from_journal(options.out_folder);
    EXPECT_EQ(resumed.processes, 3);
    const SweepResult result = run_sweep(resumed, sink);
    ASSERT_EQ(result.results.records.size(), 6U);
    for (const Record& record : result.results.records) {
        expect_processes(record, {2, 3});
        EXPECT_GT(record.measurement->rank, 0) << "the finals of the first run stand";
    }
    const JournalContents contents = read_journal(options.out_folder);
    EXPECT_FALSE(contents.finals.at(0).stale);
}

TEST(RepeatSweep, OneThatFailsInALaterProcessIsRecordedSoAndTheNextBestWins) {
    const TemporaryFolder folder;
    const std::string timings = "timings: [{config: '*.r4.*', us: 20}, {config: '*.r8.*', us: 40}, {config: '*', us: 60}]\n";
    SweepOptions options = repeated(folder, timings, 2);
    RecordingSink sink;
    EXPECT_EQ(by_rows(run_sweep(options, sink)).at("r4").measurement->rank, 1);
    cut_last_lines(options.out_folder, 6);
    folder.write("script.yaml", timings + "faults: [{config: '*.r4.*', at: measure, do: launch_failed}]\n");
    const auto records = by_rows(run_sweep(options_from_journal(options.out_folder), sink));
    EXPECT_EQ(records.at("r4").outcome, Outcome::launch_failed);
    EXPECT_FALSE(records.at("r4").measurement.has_value());
    EXPECT_EQ(records.at("r8").measurement->rank, 1);
    expect_processes(records.at("r8"), {2});
}

TEST(RepeatSweep, OneThatIsWrongAfterALaterProcessIsIncorrectAndTheNextBestWins) {
    const TemporaryFolder folder;
    const std::string timings = "timings: [{config: '*.r4.*', us: 20}, {config: '*.r8.*', us: 40}, {config: '*', us: 60}]\n";
    SweepOptions options = repeated(folder, timings, 2);
    RecordingSink sink;
    run_sweep(options, sink);
    cut_last_lines(options.out_folder, 6);
    folder.write("script.yaml", timings + "faults: [{config: '*.r4.*', at: check, do: incorrect, text: y went off}]\n");
    const auto records = by_rows(run_sweep(options_from_journal(options.out_folder), sink));
    EXPECT_EQ(records.at("r4").outcome, Outcome::incorrect);
    EXPECT_EQ(records.at("r4").reason, "y went off");
    EXPECT_FALSE(records.at("r4").verification->passed);
    EXPECT_EQ(records.at("r8").measurement->rank, 1);
    expect_processes(records.at("r8"), {2});
}

TEST(RepeatSweep, ABudgetIsRefused) {
    const TemporaryFolder folder;
    SweepOptions options = repeated(folder, "seed: 1\n", 2);
    options.budget_s = 10;
    RecordingSink sink;
    EXPECT_THROW(run_sweep(options, sink), InputError);
}

}  // namespace
}  // namespace normtune
