#include "judge/transfer.h"

#include <gtest/gtest.h>

#include "judge/synthetic_records.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::add;
using testing::narrow;
using testing::problem_of;
using testing::wide;

constexpr const char* other_key = "w8.t256.r1.row.registers.masked.per_row";

Results first_device() {
    Results results;
    add(results, problem_of(1, 1024), {{narrow, 10.0}, {wide, 12.0}});
    add(results, problem_of(8, 1024), {{narrow, 10.0}, {wide, 12.0}});
    add(results, problem_of(64, 1024), {{other_key, 10.0}, {wide, 12.0}});
    add(results, problem_of(512, 1024), {{narrow, 10.0}});
    return results;
}

Results second_device() {
    Results results;
    add(results, problem_of(1, 1024), {{narrow, 20.0}, {wide, 20.2}});
    add(results, problem_of(8, 1024), {{narrow, 22.0}, {wide, 20.0}});
    add(results, problem_of(64, 1024), {{narrow, 22.0}, {wide, 20.0}});
    add(results, problem_of(4096, 1024, Mode::backward), {{narrow, 20.0}});
    results.environment.device.name = "Other GPU";
    return results;
}

struct Sides {
    Results first = first_device();
    Results second = second_device();
    std::vector<ProblemRanking> from = problem_rankings(first);
    std::vector<ProblemRanking> to = problem_rankings(second);
};

TEST(Transfer, AWinnerLosesWhatItTakesOnTheOtherDeviceOverTheBestThere) {
    const Sides sides;
    const Transfer moved = transfer(sides.from, sides.to, 0.02);
    EXPECT_EQ(moved.from_name, "Made GPU");
    EXPECT_EQ(moved.to_name, "Other GPU");
    ASSERT_EQ(moved.problems.size(), 3u);
    EXPECT_EQ(moved.problems[0].from->problem().shape.rows, 64);  // what was not measured comes first
    EXPECT_EQ(moved.problems[0].there, nullptr);
    EXPECT_EQ(moved.problems[0].why_not, "not run");
    EXPECT_NEAR(moved.problems[1].there->loss(), 0.1, 1e-12);
    EXPECT_EQ(moved.problems[2].there->loss(), 0);
    ASSERT_EQ(moved.groups.size(), 1u);
    EXPECT_EQ(moved.groups[0].places, 3u);
    EXPECT_EQ(moved.groups[0].judged, 2u);
    EXPECT_NEAR(moved.groups[0].worst, 0.1, 1e-12);
    EXPECT_NEAR(moved.groups[0].mean, std::sqrt(1.1) - 1, 1e-12);
    EXPECT_EQ(moved.only_from, 1u);
    EXPECT_EQ(moved.only_to, 1u);
}

TEST(Transfer, WhatLosesMoreThanTheToleranceOrWasNotMeasuredNeedsMeasuring) {
    const Sides sides;
    EXPECT_EQ(transfer(sides.from, sides.to, 0.02).again, 2u);
    EXPECT_EQ(transfer(sides.from, sides.to, 0.02).after.worst, 0);
    const Transfer patient = transfer(sides.from, sides.to, 0.2);
    EXPECT_EQ(patient.again, 1u);
    EXPECT_NEAR(patient.after.worst, 0.1, 1e-12);
    // The other way round: wide, which won there twice, loses a fifth.
    const Transfer back = transfer(sides.to, sides.from, 0.02);
    EXPECT_NEAR(back.groups[0].worst, 0.2, 1e-12);
    EXPECT_EQ(back.groups[0].judged, 3u);
}

TEST(Transfer, TheOutcomeSaysWhyAWinnerHasNoTime) {
    Sides sides;
    Record failed = sides.second.records[0];
    failed.problem = problem_of(64, 1024);
    failed.candidate = Candidate::parse(other_key);
    failed.measurement.reset();
    failed.outcome = Outcome::launch_failed;
    sides.second.records.push_back(failed);
    sides.to = problem_rankings(sides.second);
    EXPECT_EQ(transfer(sides.from, sides.to, 0.02).problems[0].why_not, "launch_failed");
}

TEST(Transfer, TheRunThatStartedLastHolds) {
    Sides sides;
    Results older = second_device();
    older.records.erase(older.records.begin());  // narrow, on one row
    older.environment.started = "2026-01-01T00:00:00Z";
    sides.second.environment.started = "2026-01-02T00:00:00Z";
    std::vector<ProblemRanking> both = problem_rankings(sides.second);
    const std::vector<ProblemRanking> before = problem_rankings(older);
    both.insert(both.end(), before.begin(), before.end());
    EXPECT_EQ(transfer(sides.from, both, 0.02).groups[0].judged, 2u);
}

TEST(Transfer, WhatHasNothingInCommonIsRefused) {
    const Sides sides;
    Results elsewhere;
    add(elsewhere, problem_of(3, 77), {{narrow, 1.0}});
    const std::vector<ProblemRanking> nothing = problem_rankings(elsewhere);
    EXPECT_THROW(transfer(sides.from, nothing, 0.02), InputError);
    Results hot = second_device();
    for (Record& record : hot.records) {
        record.measurement->cold = !record.measurement->cold;
    }
    const std::vector<ProblemRanking> in_cache = problem_rankings(hot);
    EXPECT_THROW(transfer(sides.from, in_cache, 0.02), InputError);
}

}  // namespace
}  // namespace normtune
