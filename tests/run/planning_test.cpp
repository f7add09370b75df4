#include "run/planning.h"

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "support/error.h"

namespace normtune {
namespace {

PlanningOptions two_problems() {
    PlanningOptions options;
    for (const std::int64_t rows : {256, 512}) {
        Problem problem;
        problem.shape = {rows, 1024, 1024};
        options.problems.push_back(problem);
    }
    options.space.name = "small";
    options.space.axes = {{Axis::rows_per_program, {1, 2, 4, 8}}, {Axis::grid, {static_cast<int>(Grid::packed)}}};
    options.space.rules = {{"few", "rows_per_program < 4", false, "here", 1}};
    options.device = describe_architecture("sm_90");
    return options;
}

TEST(Planning, CountsAndListsNothingUnlessItIsAsked) {
    const Planning planning = plan_sweep(two_problems());
    ASSERT_EQ(planning.problems.size(), 2U);
    EXPECT_EQ(planning.problems[1].plan.problem.shape.rows, 512);
    EXPECT_EQ(planning.problems[0].plan.points, 4U);
    EXPECT_TRUE(planning.problems[0].kept.empty());
    EXPECT_TRUE(planning.problems[0].pruned.empty());
    EXPECT_FALSE(planning.has_code());
    EXPECT_TRUE(planning.compiles());
}

TEST(Planning, ListsWhatIsKeptAndWhatIsPrunedWithItsRule) {
    PlanningOptions options = two_problems();
    options.list = true;
    options.list_pruned = true;
    for (const PlannedProblem& problem : plan_sweep(options).problems) {
        EXPECT_EQ(problem.kept.size(), problem.plan.kept);
        EXPECT_EQ(problem.kept.size() + problem.pruned.size(), problem.plan.points);
        EXPECT_FALSE(problem.kept.empty());
        for (const Candidate& candidate : problem.kept) {
            EXPECT_LT(candidate.configuration()->rows_per_program, 4);
        }
        for (const PlannedProblem::Pruned& pruned : problem.pruned) {
            EXPECT_EQ(pruned.rule == "few", pruned.candidate.configuration()->rows_per_program >= 4) << pruned.rule;
        }
    }
}

TEST(Planning, AShardHasItsProblemsAndItsShareOfTheWork) {
    PlanningOptions options = two_problems();
    options.shard = parse_shard("1/2");
    const Planning first = plan_sweep(options);
    options.shard = parse_shard("2/2");
    const Planning second = plan_sweep(options);
    EXPECT_EQ(first.problems.size() + second.problems.size(), 2U);
    EXPECT_NEAR(first.of_work + second.of_work, 1, 1e-9);
}

TEST(Planning, ABackendWithoutACompilerIsRefused) {
    PlanningOptions options = two_problems();
    options.device = describe_device(Backend::cpu, 0, "");
    options.compile = true;
    EXPECT_THROW(plan_sweep(options), InputError);
}

}  // namespace
}  // namespace normtune
