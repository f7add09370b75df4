#include "judge/traffic.h"

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "judge/fit.h"
#include "judge/synthetic_records.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::add;
using testing::narrow;
using testing::problem_of;
using testing::wide;

/// One site of 4095 columns at 1, 100 and 1000 tokens. `narrow` wins at few tokens, `wide` at many.
Results recorded() {
    Results results;
    add(results, problem_of(1, 4095), {{narrow, 10.0}, {wide, 15.0}});
    add(results, problem_of(100, 4095), {{narrow, 20.0}, {wide, 22.0}});
    add(results, problem_of(1000, 4095), {{narrow, 120.0}, {wide, 100.0}});
    return results;
}

Fits fit_runs(std::span<const Results> runs, const std::map<std::int64_t, std::int64_t>& batches, double tolerance,
              std::size_t most_steps = 0, const std::vector<std::string>& models = {}) {
    FitSettings settings;
    settings.hold_out = HoldOut::parse("none");
    settings.tolerance = tolerance;
    settings.most_steps = most_steps;
    settings.traffic = TokenCounts{"tokens.csv", batches, 0};
    settings.models = models;
    return fit(runs, settings, backend_traits(Backend::cuda));
}

Fits fit_with(const Results& results, const std::map<std::int64_t, std::int64_t>& batches, double tolerance, std::size_t most_steps = 0,
              const std::vector<std::string>& models = {}) {
    return fit_runs({&results, 1}, batches, tolerance, most_steps, models);
}

/// Warps of the configuration: 4 of `narrow`, 16 of `wide`.
int chosen(const Fit& fit, std::int64_t rows) {
    return fit.fitted.prescriptions[fit.ladder->prescription(rows, 4095)].configuration.num_warps;
}

TEST(Traffic, TheLadderIsThatOfTheLeastExpectedTime) {
    const Results results = recorded();
    // One step of either loses at most half. Few tokens want the one, many the other.
    const Fits few = fit_with(results, {{1, 1000}, {1000, 1}}, 0.5, 1);
    EXPECT_EQ(few.fits[0].ladder->steps(), 1u);
    EXPECT_EQ(chosen(few.fits[0], 1), 4);
    const Fits many = fit_with(results, {{1, 1}, {1000, 100}}, 0.5, 1);
    EXPECT_EQ(chosen(many.fits[0], 1), 16);
    // With as many steps as it takes nothing is lost, whatever the cap admits.
    const Fits all = fit_with(results, {{1, 1000}, {1000, 100}}, 0.5);
    EXPECT_EQ(all.fits[0].ladder->steps(), 2u);
    EXPECT_EQ(all.fits[0].traffic->ladder.loss(), 0);
    ASSERT_EQ(all.fits[0].traffic->by_steps.size(), 2u);
    EXPECT_GT(all.fits[0].traffic->by_steps[0].loss, 0.05);
}

TEST(Traffic, OfSeveralRunsTheNewestHoldsWhateverTheirOrder) {
    Results older = recorded();
    Results newer = recorded();
    older.environment.started = "2026-11-20T08:00:00Z";
    newer.environment.started = "2026-11-21T08:00:00Z";
    for (Record& record : older.records) {
        record.measurement->p50_us *= 2;
    }
    for (const std::vector<Results>& runs : {std::vector{older, newer}, std::vector{newer, older}}) {
        EXPECT_NEAR(fit_runs(runs, {{100, 1}}, 0.5).fits[0].traffic->ladder.best_us_per_token, 20.0 / 100, 1e-12);
    }
}

TEST(Traffic, NoLadderBeyondTheCapIsTaken) {
    const Results results = recorded();
    // Only many tokens were seen, but `wide` loses 50% on one.
    const Fits capped = fit_with(results, {{1000, 1}}, 0.2, 1);
    EXPECT_EQ(chosen(capped.fits[0], 1000), 4);
    EXPECT_NEAR(capped.fits[0].traffic->ladder.loss(), 0.2, 1e-12);
    EXPECT_TRUE(capped.fits[0].within);
    const Fits none = fit_with(results, {{1000, 1}}, 0.1, 1);  // the least that one step reaches
    EXPECT_FALSE(none.fits[0].within);
    EXPECT_EQ(chosen(none.fits[0], 1000), 4);
}

TEST(Traffic, BetweenTwoTokenCountsTimesAreLinear) {
    const Results results = recorded();
    const Fits fits = fit_with(results, {{550, 1}}, 0.5, 1);  // half way from 100 to 1000 tokens
    const Fit& fit = fits.fits[0];
    const TrafficFit& traffic = *fit.traffic;
    EXPECT_EQ(chosen(fit, 550), 16);
    EXPECT_NEAR(traffic.ladder.best_us_per_token, 60.0 / 550, 1e-12);
    EXPECT_NEAR(traffic.ladder.us_per_token, 61.0 / 550, 1e-12);
    EXPECT_EQ(traffic.sites.at(0).between, 1);
    EXPECT_EQ(traffic.sites.at(0).measured, 0);
    EXPECT_EQ(traffic.sites.at(0).worst_tokens, 550);
    // 100 tokens from 1 and 1000: 10 + 90 · 99 / 999.
    EXPECT_EQ(traffic.check.points, 1u);
    EXPECT_NEAR(traffic.check.worst, std::abs((10 + 90.0 * 99 / 999) / 20 - 1), 1e-12);
    EXPECT_EQ(traffic.check.worst_on, "100 tokens of Made-1B/hidden");
    EXPECT_EQ(traffic.measure_next, (std::vector<std::int64_t>{550}));
}

TEST(Traffic, WhatLiesOutsideIsLeftOutAndCounted) {
    const Results results = recorded();
    const Fits fits = fit_with(results, {{100, 1}, {1001, 5}, {2000, 1}}, 0.5);
    const SiteTraffic& site = fits.fits[0].traffic->sites.at(0);
    EXPECT_EQ(site.measured, 1);
    EXPECT_EQ(site.above, 6);
    EXPECT_NEAR(fits.fits[0].traffic->share(&SiteTraffic::above), 6.0 / 7, 1e-12);
    EXPECT_NEAR(site.ladder.best_us_per_token, 0.2, 1e-12);
    EXPECT_EQ(fits.fits[0].traffic->measure_next, (std::vector<std::int64_t>{2000}));
    EXPECT_THROW(fit_with(results, {{1001, 1}}, 0.5), InputError);
    EXPECT_THROW(fit_with(results, {{100, 1}}, 0.5, 0, {"Other*"}), InputError);
}

TEST(Traffic, ASiteOfHeadsHasRowsForEach) {
    Results results;
    Problem heads = problem_of(32, 128);
    heads.uses = {{"Made-1B", "q_norm", 1}};
    add(results, heads, {{narrow, 5.0}});
    heads.shape.rows = 3200;
    heads.uses = {{"Made-1B", "q_norm", 100}};
    add(results, heads, {{narrow, 10.0}});
    const Fits fits = fit_with(results, {{1, 1}, {100, 1}}, 0.02);
    const SiteTraffic& site = fits.fits[0].traffic->sites.at(0);
    EXPECT_EQ(site.site.rows_per_token, 32);
    EXPECT_EQ(site.measured, 2);
    EXPECT_NEAR(site.ladder.us_per_token, 15.0 / 101, 1e-12);
}

TEST(Traffic, AConfigurationMeasuredOnOneSideLosesThereWhatItLosesOnThatSide) {
    TrafficSite::Point below{100, nullptr, 20};
    TrafficSite::Point above{200, nullptr, 40};
    ShapeLosses at_below;
    ShapeLosses at_above;
    at_below.losses = {0.1, not_measured, not_measured};
    at_above.losses = {0.2, 0.2, not_measured};
    below.shape = &at_below;
    above.shape = &at_above;
    const TrafficPlace place{&below, &above, 0.5};
    const auto on = [](std::size_t p) { return [p](const ShapeLosses& shape) { return shape.losses[p]; }; };
    EXPECT_NEAR(time_at(place, on(0)).value(), 35, 1e-12);
    EXPECT_NEAR(time_at(place, on(1)).value(), 36, 1e-12);
    EXPECT_FALSE(time_at(place, on(2)));
}

TEST(Traffic, ARuleIsJudgedWhereSomethingMeasuredObeysIt) {
    const Results results = recorded();
    const Fits fits = fit_with(results, {{1, 10}, {1000, 1}}, 0.5);
    const std::vector<TrafficRule>& rules = fits.fits[0].traffic->rules;
    ASSERT_EQ(rules.size(), 4u);
    EXPECT_EQ(rules[0].name, "te_rows_per_program");  // one row a program: all that was measured
    EXPECT_EQ(rules[0].time.judged, 1);
    EXPECT_EQ(rules[0].time.loss(), 0);
    EXPECT_EQ(rules[1].name, "liger_calculate_settings");  // 8 warps at 4095 columns: none
    EXPECT_EQ(rules[1].time.judged, 0);
    EXPECT_EQ(rules[3].name, "quack_threads_per_row");  // 64 threads: none
    EXPECT_EQ(rules[3].time.judged, 0);
}

TEST(Traffic, WhatARaceDroppedOnEitherSideOfABatchIsMeasuredAgain) {
    Results results = recorded();
    results.records[3].measurement->stop_reason = StopReason::dropped;  // `wide` on 100 tokens
    // At 1000 tokens alone `wide` rests on nothing else; a batch of 550 takes it on 100 tokens, too.
    EXPECT_TRUE(wanted_again(fit_with(results, {{1000, 1}}, 0.2)).empty());
    const Fits between = fit_with(results, {{100, 1000}, {550, 1}, {1000, 1}}, 0.2);
    ASSERT_EQ(between.fits[0].ladder->steps(), 2u);
    EXPECT_EQ(chosen(between.fits[0], 100), 4);
    EXPECT_EQ(chosen(between.fits[0], 550), 16);
    const std::vector<TrialsAgain> again = wanted_again(between);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].problem.shape.rows, 100);
    EXPECT_EQ(again[0].configurations.size(), 2u);  // the winner, and `wide`
}

TEST(Fit, ColdAndHotAreNotFittedTogether) {
    const Results cold = recorded();
    Results hot = cold;
    for (Record& record : hot.records) {
        record.measurement->cold = false;
    }
    EXPECT_NO_THROW(fit_with(hot, {{100, 1}}, 0.5));
    const std::vector<Results> both{cold, hot};
    EXPECT_THROW(fit_runs(both, {{100, 1}}, 0.5), InputError);
    EXPECT_THROW(fit(both, FitSettings{}, backend_traits(Backend::cuda)), InputError);
}

TEST(Traffic, ResultsWithoutTokensOfTheirSitesAreRefused) {
    Results results = recorded();
    for (Record& record : results.records) {
        record.problem.uses[0].tokens = 0;  // as in a results.csv
    }
    EXPECT_THROW(fit_with(results, {{1, 1}}, 0.02), InputError);
}

}  // namespace
}  // namespace normtune
