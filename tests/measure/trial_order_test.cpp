#include "measure/trial_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "run/sweep_fixture.h"

namespace normtune {
namespace {

using testing::small_problem;

std::vector<Candidate> configurations() {
    std::vector<Candidate> out;
    for (const int warps : {1, 2, 4, 8}) {
        for (const int rows : {1, 2, 4}) {
            Configuration c;
            c.num_warps = warps;
            c.threads_per_row = 32 * warps;
            c.rows_per_program = rows;
            c.grid = Grid::packed;
            out.push_back(c);
        }
    }
    return out;
}

MeasuredProblem measured(std::int64_t rows, std::int64_t cols, std::size_t winner, std::size_t worst) {
    const auto all = configurations();
    std::map<std::string, double> times_us;
    for (const Candidate& c : all) {
        times_us[c.identity()] = 11;
    }
    times_us[all[winner].identity()] = 10;
    times_us[all[worst].identity()] = 27;
    return {small_problem(rows, cols), times_us, all[winner].identity()};
}

TEST(TrialOrder, WinnersOfTheNearestProblemsComeFirstTheirWorstLast) {
    const std::vector<MeasuredProblem> known = {measured(256, 128, 3, 0), measured(256, 2048, 7, 5), measured(512, 1024, 9, 5)};
    const auto order = promising_first(small_problem(256, 1024), configurations(), known, 1);
    EXPECT_EQ(order[0], 9U);  // M doubled is nearer than N doubled
    EXPECT_EQ(order[1], 7U);
    EXPECT_EQ(order[2], 3U);
    EXPECT_EQ(order.back(), 5U);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), configurations().size());
}

TEST(TrialOrder, AnotherOperationTellsNothing) {
    MeasuredProblem other = measured(256, 1024, 3, 0);
    other.problem.operation.mode = Mode::backward;
    const std::vector<MeasuredProblem> known = {other};
    EXPECT_TRUE(std::isinf(distance(other.problem, small_problem())));
    EXPECT_EQ(promising_first(small_problem(), configurations(), known, 1), promising_first(small_problem(), configurations(), {}, 1));
}

TEST(TrialOrder, WithoutNeighboursEachKindComesOnceBeforeAnyComesTwice) {
    const auto all = configurations();
    const auto order = promising_first(small_problem(), all, {}, 3);
    std::set<int> warps;
    for (std::size_t place = 0; place < 4; ++place) {
        warps.insert(all[order[place]].configuration()->num_warps);
    }
    EXPECT_EQ(warps.size(), 4U);
}

TEST(TrialOrder, CandidatesOfOtherProvidersComeFirst) {
    auto all = configurations();
    all.push_back(Candidate::named("vendor", "rms_norm"));
    EXPECT_EQ(promising_first(small_problem(), all, {}, 3).front(), all.size() - 1);
    const std::vector<MeasuredProblem> known = {measured(256, 1024, 3, 0)};
    const auto order = promising_first(small_problem(512, 1024), all, known, 3);
    EXPECT_EQ(order[0], all.size() - 1);
    EXPECT_EQ(order[1], 3U);
}

TEST(TrialOrder, IsThatOfItsSeed) {
    const auto all = configurations();
    EXPECT_EQ(promising_first(small_problem(), all, {}, 3), promising_first(small_problem(), all, {}, 3));
    EXPECT_NE(promising_first(small_problem(), all, {}, 3), promising_first(small_problem(), all, {}, 4));
}

}  // namespace
}  // namespace normtune
