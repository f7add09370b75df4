// A worker that cannot start, or cannot open a problem: what that costs, and what it does not.
#include <gtest/gtest.h>

#include "faults/frame_relay.h"
#include "run/sweep_fixture.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

std::map<std::string, int> outcomes(const SweepResult& result) {
    std::map<std::string, int> counts;
    for (const Record& record : result.results.records) {
        ++counts[record.problem.key() + " " + std::string(outcome_names.name(record.outcome))];
    }
    return counts;
}

TEST(WorkerLoss, AProblemThatCannotBeOpenedFailsWithItsReasonAndTheNextOneRuns) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, R"(
faults:
  - {problem: '*/256x*', at: open, do: out_of_memory, text: 1 GiB wanted}
  - {problem: '*/512x*', at: open, do: crash}
)");
    options.problems = {small_problem(256), small_problem(512), small_problem(1024)};
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    const std::map<std::string, int> expected{{small_problem(256).key() + " out_of_memory", 6},
                                              {small_problem(512).key() + " crashed", 6},
                                              {small_problem(1024).key() + " passed", 6}};
    EXPECT_EQ(outcomes(result), expected);
    EXPECT_NE(result.results.records.front().reason.find("1 GiB wanted"), std::string::npos);
    EXPECT_EQ(sink.warnings.size(), 2U);
}

TEST(WorkerLoss, MemoryThatComesBackLateCostsNothing) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, "faults: [{at: open, do: out_of_memory, times: 1}]\n");
    RecordingSink sink;
    // Each worker's first opening fails; a worker that is told twice opens.
    const SweepResult result = run_sweep(options, sink);
    EXPECT_EQ(outcomes(result).begin()->first, small_problem().key() + " passed");
}

TEST(WorkerLoss, AWorkerThatDiesAtItsStartEndsTheSweepWithItsLastWords) {
    const TemporaryFolder folder;
    const SweepOptions options = small_sweep(folder, R"(
faults:
  - {at: start, do: print, text: no driver here}
  - {at: start, do: exit, status: 9}
)");
    RecordingSink sink;
    try {
        run_sweep(options, sink);
        FAIL();
    } catch (const SystemError& error) {
        EXPECT_NE(std::string(error.what()).find("status 9; it said: no driver here"), std::string::npos) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
}

TEST(WorkerLoss, AnExecutableThatIsNotThereIsOneLine) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "seed: 1\n");
    options.worker_executable = folder.path("missing");
    RecordingSink sink;
    try {
        run_sweep(options, sink);
        FAIL();
    } catch (const SystemError& error) {
        EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
    }
}

TEST(WorkerLoss, AnExecutableThatIsNoWorkerIsFoundOut) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "seed: 1\n");
    options.worker_executable = "/bin/true";
    RecordingSink sink;
    EXPECT_THROW(run_sweep(options, sink), SystemError);
}

/// Runs the sweep with its worker behind a relay.
SweepResult through_relay(const TemporaryFolder& folder, const std::string& how, const std::string& out) {
    setenv(testing::relay_variable, how.c_str(), 1);
    RecordingSink sink;
    const SweepResult result = run_sweep(small_sweep(folder, "noise: {sigma: 0.01}\n", out), sink);
    unsetenv(testing::relay_variable);
    return result;
}

TEST(WorkerLoss, RepliesTooManyOrTooLateCostNothing) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const SweepResult calm = run_sweep(small_sweep(folder, "noise: {sigma: 0.01}\n", "calm"), sink);
    for (const char* how : {"twice", "late"}) {
        const SweepResult result = through_relay(folder, how, how);
        ASSERT_EQ(result.results.records.size(), calm.results.records.size());
        for (std::size_t i = 0; i < calm.results.records.size(); ++i) {
            EXPECT_EQ(result.results.records[i].measurement, calm.results.records[i].measurement) << how;
        }
    }
}

TEST(WorkerLoss, AMessageThatIsNoAnswerCostsOneTrialAtMost) {
    const TemporaryFolder folder;
    for (const std::string how : {"noise", "ahead", "other"}) {
        const SweepResult result = through_relay(folder, how + ' ' + folder.path(how + ".done"), how);
        ASSERT_TRUE(std::filesystem::exists(folder.path(how + ".done")));
        std::size_t passed = 0;
        for (const Record& record : result.results.records) {
            passed += record.outcome == Outcome::passed ? 1 : 0;
            EXPECT_TRUE(record.outcome == Outcome::passed || record.reason.starts_with("the worker")) << record.reason;
        }
        EXPECT_EQ(result.results.records.size(), 6U);
        EXPECT_EQ(passed, 5U) << how;
    }
}

}  // namespace
}  // namespace normtune
