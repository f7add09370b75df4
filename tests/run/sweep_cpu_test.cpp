// The pipeline on a real device: the CPU, with everything that a worker does on one.
#include <gtest/gtest.h>

#include "run/sweep_fixture.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::TemporaryFolder;

TEST(SweepOnCpu, VerifiesMeasuresAndRanks) {
    const TemporaryFolder folder;
    SweepOptions options;
    options.command = {"normtune", "sweep"};
    options.problems = {small_problem(64, 1024)};
    options.space = load_space("quick");
    options.strategy = find_strategy("random");
    options.most_trials_per_problem = 6;
    options.backend = Backend::cpu;
    options.cold = false;
    options.stop_rule.most_rounds = 6;
    options.out_folder = folder.make_folder("out");
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    ASSERT_GT(result.results.records.size(), 1U);
    int winners = 0;
    for (const Record& record : result.results.records) {
        EXPECT_EQ(record.outcome, Outcome::passed) << record.candidate.identity() << ": " << record.reason;
        ASSERT_TRUE(record.verification && record.measurement);
        EXPECT_FALSE(record.verification->shapes.empty());
        EXPECT_GT(record.measurement->p50_us, 0);
        EXPECT_GT(record.measurement->limit_us, 0);
        winners += record.measurement->rank == 1 ? 1 : 0;
    }
    EXPECT_EQ(winners, 1);
}

}  // namespace
}  // namespace normtune
