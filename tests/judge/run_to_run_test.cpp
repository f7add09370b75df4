#include "judge/run_to_run.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

std::vector<double> normals(std::size_t count, double center, double deviation) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal(center, deviation);
    std::vector<double> out(count);
    for (double& value : out) {
        value = normal(random);
    }
    return out;
}

TEST(DensestHalf, OfNormalValuesIsTheirDeviation) {
    EXPECT_NEAR(densest_half_deviation(normals(4000, 0.2, 0.01)), 0.01, 0.001);
}

TEST(DensestHalf, IsNotWidenedByTrialsThatChanged) {
    std::vector<double> values = normals(600, 0, 0.01);
    const std::vector<double> changed = normals(400, 0.5, 0.01);
    values.insert(values.end(), changed.begin(), changed.end());
    EXPECT_LT(densest_half_deviation(values), 0.025);  // of all values it would be 0.25
}

TEST(DensestHalf, OfOneValueOrNoneIsNothing) {
    EXPECT_EQ(densest_half_deviation({}), 0);
    EXPECT_EQ(densest_half_deviation({0.3}), 0);
}

/// The standard error of the first problem's first pair where its copy took so much longer in the second run.
double error_where_the_copy_moved(double by, const std::string& copy_before, const std::string& copy_after) {
    testing::SyntheticSweep sweep;
    sweep.seed = 1;
    Results before = testing::synthetic_results(sweep);
    sweep.seed = 2;
    Results after = testing::synthetic_results(sweep);
    const auto of_first = [&](const Record& record) { return record.problem.key() == before.records.front().problem.key(); };
    for (Record& record : before.records) {
        record.measurement->limit_copy = copy_before;
    }
    for (Record& record : after.records) {
        record.measurement->limit_copy = copy_after;
        record.measurement->limit_us *= of_first(record) ? 1 + by : 1;
    }
    const ResultRows rows_before = rows_of(before, "before");
    const ResultRows rows_after = rows_of(after, "after");
    return compare(rows_before, rows_after, {}).pairs.front().error;
}

/// Of one problem, in two runs of the same kernels.
RunToRun of_one_problem(const std::string& arch, double least) {
    std::array<ResultRows, 2> sides;
    for (std::size_t side = 0; side < sides.size(); ++side) {
        testing::SyntheticSweep sweep;
        sweep.seed = side + 1;
        Results results = testing::synthetic_results(sweep);
        const std::string first = results.records.front().problem.key();
        std::erase_if(results.records, [&](const Record& record) { return record.problem.key() != first; });
        for (Record& record : results.records) {
            record.arch = arch;
        }
        sides[side] = rows_of(results, "file");
    }
    CompareSettings settings;
    settings.run_to_run = least;
    return compare(sides[0], sides[1], settings).run_to_run;
}

TEST(RunToRun, OfFewPairsAndCopiesIsAssumedToBeMoreOnACpu) {
    const double usual = CompareSettings{}.run_to_run;
    const RunToRun on_a_gpu = of_one_problem("sm_90", usual);
    EXPECT_EQ(on_a_gpu.copies, 1U);
    EXPECT_FALSE(on_a_gpu.told);
    EXPECT_EQ(on_a_gpu.deviation, usual);
    EXPECT_EQ(of_one_problem("x86-64-avx2", usual).deviation, 0.015);
    EXPECT_EQ(of_one_problem("aarch64", usual).deviation, 0.015);
    EXPECT_EQ(of_one_problem("x86-64-avx2", 0.005).deviation, 0.005) << "a policy's own";
}

TEST(Disturbance, ACopyThatMovedWidensItsProblemsIntervals) {
    const double usual = error_where_the_copy_moved(0, "v16.u1.t128.p8", "v16.u1.t128.p8");
    EXPECT_GT(error_where_the_copy_moved(0.035, "v16.u1.t128.p8", "v16.u1.t128.p8"), 2 * usual);
    EXPECT_GT(error_where_the_copy_moved(0.035, "", ""), 2 * usual) << "files that do not tell which copy it was";
}

TEST(Disturbance, AnotherCopyHasAnotherTime) {
    const double usual = error_where_the_copy_moved(0, "v16.u1.t128.p8", "v16.u1.t128.p8");
    EXPECT_LT(error_where_the_copy_moved(0.035, "v16.u1.t128.p8", "v16.u4.t128.pieces"), 1.01 * usual);
    EXPECT_GT(error_where_the_copy_moved(0.2, "v16.u1.t128.p8", "v16.u4.t128.pieces"), 2 * usual) << "no two copies lie so far apart";
}

}  // namespace
}  // namespace normtune
