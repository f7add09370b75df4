#include "judge/side_by_side.h"

#include <cmath>

#include <gtest/gtest.h>

#include "judge/synthetic_records.h"
#include "support/error.h"

namespace normtune {
namespace {

using ::normtune::testing::problem_of;

Record record_of(const Problem& problem, double p50_us, int rank = 0) {
    Record record;
    record.problem = problem;
    record.measurement.emplace();
    record.measurement->p50_us = p50_us;
    record.measurement->rank = rank;
    return record;
}

Record of_provider(std::string_view provider, double p50_us, int rank = 0, std::vector<double> fresh = {}) {
    Record record = record_of(problem_of(64, 128), p50_us, rank);
    if (provider != own_provider) {
        record.candidate = Candidate::named(provider, "norm");
    }
    record.measurement->final_rounds_us = std::move(fresh);
    return record;
}

TEST(SideBySide, TheBestRankCountsThenTheLeastTime) {
    Results results;
    results.records = {of_provider("normtune", 9, 2, {8}), of_provider("normtune", 9, 1, {30, 10, 9}),    of_provider("liger", 8),
                       of_provider("liger", 7.5),          of_provider("quack", 15, 3, {14, 14.5}),       of_provider("quack", 6),
                       of_provider("pytorch", 20),         of_provider("pytorch", 19, 0, {21, 21.5, 20}), of_provider("pytorch", 1)};
    results.records.back().outcome = Outcome::incorrect;
    const std::vector<SideBySide> found = side_by_side({&results, 1});
    ASSERT_EQ(found.size(), 1u);
    ASSERT_EQ(found[0].best.size(), 4u);
    EXPECT_DOUBLE_EQ(time_of(*found[0].own()), 10);  // the median of the fresh rounds of rank 1, not the least
    EXPECT_DOUBLE_EQ(time_of(*found[0].best.at({"liger", false})), 7.5);
    EXPECT_DOUBLE_EQ(time_of(*found[0].best.at({"pytorch", false})), 21);   // the one that was in the finals, without a rank
    EXPECT_DOUBLE_EQ(time_of(*found[0].best.at({"quack", false})), 14.25);  // ranked, so not the 6 of one that was not
    ASSERT_TRUE(found[0].fastest_other().has_value());
    EXPECT_DOUBLE_EQ(*found[0].fastest_other(), 0.75);
}

TEST(SideBySide, DependentLaunchesAreNoPeersOfPlainOnes) {
    Results results;
    results.records = {of_provider("normtune", 2), of_provider("normtune", 1), of_provider("flashinfer", 3),
                       of_provider("flashinfer", 1.2)};
    results.records[1].measurement->limit_copy = results.records[3].measurement->limit_copy = "v16.t256.dependent";
    const std::vector<SideBySide> found = side_by_side({&results, 1});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].own(), &results.records[0]);
    EXPECT_EQ(found[0].best.size(), 4u);
    EXPECT_DOUBLE_EQ(*found[0].fastest_other(), 1.5);
}

TEST(SideBySide, WithoutOneSideThereIsNoRatioAndNoMean) {
    Results results;
    results.records = {of_provider("liger", 8)};
    std::vector<SideBySide> found = side_by_side({&results, 1});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].own(), nullptr);
    EXPECT_FALSE(found[0].fastest_other().has_value());
    EXPECT_TRUE(means(found).empty());
    results.records = {of_provider("normtune", 8)};
    found = side_by_side({&results, 1});
    EXPECT_FALSE(found.at(0).fastest_other().has_value());
}

TEST(SideBySide, ARowIsOfOneRunTheLatest) {
    std::vector<Results> runs(2);
    runs[0].environment.started = "2026-11-02T00:00:00Z";
    runs[1].environment.started = "2026-11-01T00:00:00Z";
    runs[0].records = {of_provider("normtune", 10), of_provider("liger", 20)};
    runs[1].records = {of_provider("normtune", 5), of_provider("quack", 1)};
    for (int order = 0; order < 2; ++order) {
        const std::vector<SideBySide> found = side_by_side(runs);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_DOUBLE_EQ(time_of(*found[0].own()), 10);
        EXPECT_FALSE(found[0].best.contains({"quack", false}));
        std::swap(runs[0], runs[1]);
    }
}

TEST(SideBySide, RunsOfSeveralDevicesAreRefused) {
    std::vector<Results> runs(2);
    runs[0].environment.device.name = "H100";
    runs[1].environment.device.name = "H200";
    EXPECT_THROW(side_by_side(runs), InputError);
}

TEST(SideBySide, MeansAreByOperation) {
    Results results;
    const auto add = [&](std::int64_t rows, ResidualPrecision residual, double own_us, double other_us) {
        Record own = record_of(problem_of(rows, 128), own_us);
        own.problem.operation.op = Op::fused_add_rms_norm;
        own.problem.operation.residual = residual;
        own.measurement->limit_ratio = own_us / 10;
        Record other = own;
        other.candidate = Candidate::named("quack", "norm");
        other.measurement->p50_us = other_us;
        results.records.push_back(own);
        results.records.push_back(other);
    };
    add(1, ResidualPrecision::rounded, 10, 20);
    add(2, ResidualPrecision::rounded, 12, 6);
    add(2, ResidualPrecision::fp32, 10, 11);
    const std::vector<SideBySideMean> found = means(side_by_side({&results, 1}));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].problems, 2);
    EXPECT_DOUBLE_EQ(found[0].geometric_mean, 1);  // of 2 and 0.5
    EXPECT_DOUBLE_EQ(found[0].least, 0.5);
    EXPECT_DOUBLE_EQ(found[0].most_limit, 1.2);
    EXPECT_EQ(found[1].operation, "fused_add_rms_norm/forward/bf16/llama/residual_fp32");
    EXPECT_DOUBLE_EQ(found[1].geometric_mean, 1.1);
}

}  // namespace
}  // namespace normtune
