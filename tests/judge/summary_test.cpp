#include "judge/summary.h"

#include <set>

#include <gtest/gtest.h>

#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::synthetic_results;
using testing::SyntheticSweep;

TEST(Summary, CountsAndGroups) {
    SyntheticSweep sweep;
    sweep.problems = 6;
    sweep.configurations = 5;
    sweep.seed = 1;
    const ResultRows before = rows_of(synthetic_results(sweep), "before");
    sweep.seed = 2;
    sweep.planted = [](int problem, int) { return problem % 2 == 1 ? 1.1 : 1.0; };  // the backward problems
    const ResultRows after = rows_of(synthetic_results(sweep), "after");
    const Comparison comparison = compare(before, after, {});
    const Summary summary = summarise(comparison);
    EXPECT_EQ(summary.count(Verdict::slower), 15U);
    EXPECT_EQ(summary.groups[0].by, "all");
    EXPECT_EQ(summary.groups[0].pairs, 30U);
    bool seen = false;
    for (const RatioGroup& group : summary.groups) {
        if (group.by == "mode" && group.name == "backward") {
            seen = true;
            EXPECT_NEAR(group.geometric_mean, 1.1, 0.01);
            EXPECT_EQ(group.slower, 15U);
        }
    }
    EXPECT_TRUE(seen);
    ASSERT_EQ(summary.worst.size(), 5U);
    EXPECT_GE(summary.worst[0]->ratio, summary.worst[4]->ratio);
    EXPECT_LE(summary.best[0]->ratio, summary.best[4]->ratio);
}

TEST(Summary, OfFewPairsEachIsNamedOnceAndTheWorstFirst) {
    for (const int pairs : {1, 2, 5, 9}) {
        SyntheticSweep sweep;
        sweep.seed = 1;
        sweep.problems = 1;
        sweep.configurations = pairs;
        const ResultRows before = rows_of(synthetic_results(sweep), "before");
        sweep.seed = 2;
        const ResultRows after = rows_of(synthetic_results(sweep), "after");
        const Comparison comparison = compare(before, after, {});
        const Summary summary = summarise(comparison);
        std::set<const Pair*> named(summary.worst.begin(), summary.worst.end());
        named.insert(summary.best.begin(), summary.best.end());
        EXPECT_EQ(named.size(), static_cast<std::size_t>(pairs));
        EXPECT_EQ(summary.worst.size() + summary.best.size(), named.size());
        for (const Pair* best : summary.best) {
            EXPECT_LE(best->ratio, summary.worst.back()->ratio);
        }
    }
}

}  // namespace
}  // namespace normtune
