#include "space/plan_points.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace normtune {
namespace {

PlanFilter filter_of(std::vector<Axis> axes, std::function<bool(const Configuration&)> keeps) {
    return {std::move(axes),
            [keeps = std::move(keeps)](const Configuration& c) { return keeps(c) ? RuleAnswer::keeps : RuleAnswer::prunes; },
            {}};
}

const SearchSpace& space() {
    static const SearchSpace space{"s", {{Axis::num_warps, {1, 2, 4}}, {Axis::stages, {1, 2}}, {Axis::programs_per_sm, {1, 2, 4, 8}}}, {}};
    return space;
}

std::vector<PlanFilter> few_programs() {
    return {
        filter_of({Axis::programs_per_sm}, [](const Configuration& c) { return c.programs_per_sm > 1; }),
        filter_of({Axis::num_warps, Axis::programs_per_sm}, [](const Configuration& c) { return c.num_warps * c.programs_per_sm <= 8; })};
}

TEST(PlanPoints, FiltersTakeFromWhatEarlierOnesLeft) {
    PlanPoints points(space(), few_programs(), false);
    EXPECT_EQ(points.count_kept(), 24U);
    points.apply(0);
    EXPECT_EQ(points.count_kept(), 18U);
    points.apply(1);
    EXPECT_EQ(points.count_kept(), 12U);
    points.undo();
    EXPECT_EQ(points.count_kept(), 18U);
}

TEST(PlanPoints, RememberWhoTookAPoint) {
    for (const bool remember : {false, true}) {
        PlanPoints points(space(), few_programs(), remember);
        points.apply(0);
        points.apply(1);
        std::map<std::size_t, int> taken;
        points.visit([&](const Configuration& c, std::size_t by) {
            ++taken[by];
            EXPECT_EQ(by == 0, c.programs_per_sm == 1);
            EXPECT_EQ(by == PlanPoints::kept, c.programs_per_sm > 1 && c.num_warps * c.programs_per_sm <= 8);
        });
        const std::map<std::size_t, int> kept{{PlanPoints::kept, 12}};
        const std::map<std::size_t, int> all{{0, 6}, {1, 6}, {PlanPoints::kept, 12}};
        EXPECT_EQ(taken, remember ? all : kept);
    }
}

TEST(PlanPoints, KeptPointsAreFoundByTheirPlaces) {
    for (const bool remember : {false, true}) {
        PlanPoints points(space(), few_programs(), remember);
        points.apply(0);
        points.apply(1);
        std::vector<std::string> all;
        points.visit([&](const Configuration& c, std::size_t by) {
            if (by == PlanPoints::kept) {
                all.push_back(c.key());
            }
        });
        ASSERT_EQ(all.size(), 12U);
        for (const std::vector<std::uint64_t>& places :
             {std::vector<std::uint64_t>{}, {0}, {11}, {3, 4, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}) {
            std::vector<std::string> found;
            points.visit_kept(places, [&](const Configuration& c) { found.push_back(c.key()); });
            std::vector<std::string> wanted;
            for (const std::uint64_t place : places) {
                wanted.push_back(all[place]);
            }
            EXPECT_EQ(found, wanted);
        }
    }
}

TEST(PlanPoints, AFilterIsAskedOnceAndOnlyAboutWhatIsLeft) {
    std::map<std::pair<int, int>, int> asked;
    std::vector<PlanFilter> filters = few_programs();
    // Too many combinations to look at ahead, so that only the walk asks.
    SearchSpace wide = space();
    wide.axes.push_back({Axis::rows_per_program, {}});
    for (int rows = 1; rows <= 2000; ++rows) {
        wide.axes.back().values.push_back(rows);
    }
    filters.push_back({{Axis::num_warps, Axis::programs_per_sm, Axis::rows_per_program},
                       [&](const Configuration& c) {
                           ++asked[{c.num_warps * 100 + c.programs_per_sm, c.rows_per_program}];
                           return c.rows_per_program > 1000 ? RuleAnswer::keeps : RuleAnswer::prunes;
                       },
                       {}});
    PlanPoints points(wide, std::move(filters), false);
    for (std::size_t f = 0; f < 3; ++f) {
        points.apply(f);
    }
    EXPECT_EQ(points.count_kept(), 12000U);
    EXPECT_EQ(asked.size(), 12000U);
    for (const auto& [combination, times] : asked) {
        EXPECT_EQ(times, 1);
        EXPECT_GT(combination.first % 100, 1);
    }
}

}  // namespace
}  // namespace normtune
