// A problem has a winner as long as one of its trials passed, whenever the others fail.
#include <gtest/gtest.h>

#include <random>

#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

using testing::by_rows;
using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

class LateFailures : public ::testing::TestWithParam<const Strategy*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, LateFailures, ::testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& given) { return std::string(given.param->name()); });

/// Winners and passed trials of each problem.
std::map<std::string, std::pair<int, int>> count(const Results& results) {
    std::map<std::string, std::pair<int, int>> counts;
    for (const Record& record : results.records) {
        auto& [winners, passed] = counts[record.problem.key()];
        passed += record.outcome == Outcome::passed ? 1 : 0;
        winners += record.outcome == Outcome::passed && record.measurement->rank == 1 ? 1 : 0;
    }
    return counts;
}

TEST_P(LateFailures, TheNextBestWinsWhereAClearWinnerCrashesInTheFinals) {
    const TemporaryFolder folder;
    for (const int at : {8, 12, 25}) {
        const std::string script = fmt::format(R"(
noise: {{sigma: 0.002}}
timings: [{{config: '*.r4.*', us: 100}}, {{config: '*.r8.*', us: 120}}, {{config: '*', us: 150, spread: 0.3}}]
faults: [{{config: '*.r4.*', at: measure, do: crash, from: {}}}]
)",
                                               at);
        SweepOptions options = small_sweep(folder, script, fmt::format("out{}", at));
        options.strategy = GetParam();
        RecordingSink sink;
        const SweepResult result = run_sweep(options, sink);
        const auto records = by_rows(result);
        if (records.at("r4").outcome == Outcome::passed) {
            EXPECT_EQ(records.at("r4").measurement->rank, 1) << "its finals were over before";
            continue;
        }
        EXPECT_EQ(records.at("r4").outcome, Outcome::crashed);
        EXPECT_EQ(records.at("r8").measurement->rank, 1);
        EXPECT_EQ(records.at("r8").measurement->final_rounds_us.size(), 12U);
    }
}

TEST_P(LateFailures, TheNextBestWinsWhereTheWinnerIsWrongAfterTheFinalsAlone) {
    const TemporaryFolder folder;
    // Its first occasion is after its ordinary rounds.
    SweepOptions options = small_sweep(folder, R"(
noise: {sigma: 0.002}
timings: [{config: '*.r4.*', us: 100}, {config: '*.r8.*', us: 120}, {config: '*', us: 150, spread: 0.3}]
faults: [{config: '*.r4.*', at: check, do: incorrect, from: 2, text: y went off}]
)");
    options.strategy = GetParam();
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    const auto records = by_rows(result);
    const Record& wrong = records.at("r4");
    EXPECT_EQ(wrong.outcome, Outcome::incorrect);
    EXPECT_EQ(wrong.reason, "y went off");
    EXPECT_FALSE(wrong.measurement);
    ASSERT_TRUE(wrong.verification);
    EXPECT_FALSE(wrong.verification->passed);
    EXPECT_EQ(result.incorrect, 1U);
    EXPECT_EQ(records.at("r8").outcome, Outcome::passed);
    EXPECT_EQ(records.at("r8").measurement->rank, 1);
    EXPECT_EQ(records.at("r8").measurement->final_rounds_us.size(), 12U);
    // A resumed sweep has nothing to do.
    const SweepResult resumed = run_sweep(options_from_journal(options.out_folder), sink);
    EXPECT_EQ(by_rows(resumed).at("r4").outcome, Outcome::incorrect);
    EXPECT_EQ(by_rows(resumed).at("r8").measurement->rank, 1);
}

TEST_P(LateFailures, WhereverWorkersDieWhatPassedHasAWinner) {
    constexpr int sweeps = testing::sanitized ? 8 : 40;
    const TemporaryFolder folder;
    std::mt19937 random(20261122);
    int passed_sweeps = 0;
    int crashes = 0;
    for (int i = 0; i < sweeps; ++i) {
        // Each worker dies in a round of its own: early ones take many workers, late ones come in the finals.
        const int from = std::uniform_int_distribution(3, 90)(random);
        const std::string kind = std::uniform_int_distribution(0, 1)(random) != 0 ? "crash, signal: SIGKILL" : "bad_sample";
        SweepOptions options = small_sweep(folder,
                                           fmt::format("seed: {}\ntimings: [{{config: '*', us: 100, spread: 0.6}}]\n"
                                                       "faults: [{{at: measure, do: {}, from: {}}}]\n",
                                                       i, kind, from),
                                           fmt::format("out{}", i));
        options.strategy = GetParam();
        options.seed = static_cast<std::uint64_t>(i);
        options.problems = {small_problem(256), small_problem(512)};
        RecordingSink sink;
        const SweepResult result = run_sweep(options, sink);
        crashes += static_cast<int>(result.crashed);
        for (const auto& [problem, counts] : count(result.results)) {
            const auto& [winners, passed] = counts;
            EXPECT_EQ(winners, passed > 0 ? 1 : 0) << "sweep " << i << ", from " << from << ", " << problem;
            passed_sweeps += passed > 0 ? 1 : 0;
        }
    }
    EXPECT_GT(passed_sweeps, sweeps / 2);
    EXPECT_GT(crashes, sweeps / 2);
}

TEST_P(LateFailures, AResumedSweepGivesAWinnerToAProblemThatHasNone) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "timings: [{config: '*', us: 100, spread: 0.6}]\n");
    options.strategy = GetParam();
    RecordingSink sink;
    run_sweep(options, sink);
    {
        JournalContents contents;
        Journal::resume(options.out_folder, contents).append(FinalEntry{small_problem().key(), {}});
    }
    const SweepResult resumed = run_sweep(options_from_journal(options.out_folder), sink);
    for (const auto& [problem, counts] : count(resumed.results)) {
        EXPECT_EQ(counts.first, 1) << problem;
    }
}

}  // namespace
}  // namespace normtune
