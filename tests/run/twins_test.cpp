// Trials that are measured twice in the same rounds.
#include <gtest/gtest.h>

#include <cmath>

#include "run/sweep_fixture.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

SweepOptions twins_of(const TemporaryFolder& folder, const std::string& script) {
    SweepOptions options = small_sweep(folder, script);
    options.twins = true;
    return options;
}

TEST(Twins, EachTrialHasTwoSeriesOfAsManyRounds) {
    const TemporaryFolder folder;
    SweepOptions options = twins_of(folder, "noise: {sigma: 0.01}\n");
    options.problems.push_back(small_problem(512));
    RecordingSink sink;
    const SweepResult result = run_sweep(options, sink);
    ASSERT_EQ(result.results.records.size(), 12U);
    ASSERT_EQ(result.twin.records.size(), 12U);
    EXPECT_EQ(result.twin.environment.device.name, result.results.environment.device.name);
    std::map<std::string, const Record*> first;
    for (const Record& record : result.results.records) {
        first.emplace(record.trial_key(), &record);
    }
    for (const Record& twin : result.twin.records) {
        const Measurement& a = *first.at(twin.trial_key())->measurement;
        const Measurement& b = *twin.measurement;
        EXPECT_EQ(a.rounds.size(), b.rounds.size());
        EXPECT_NE(a.rounds.front().median_us, b.rounds.front().median_us);
        EXPECT_NE(a.limit_us, b.limit_us);  // the copy was measured twice, too
        EXPECT_NEAR(a.p50_us / b.p50_us, 1, 0.03);
        EXPECT_EQ(b.rank, 0);
    }
}

// Two sweeps one after another would be a drift apart; twins are not.
TEST(Twins, ADriftHitsBothAlike) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const SweepResult result = run_sweep(twins_of(folder, "noise: {sigma: 0.001}\ndrift: {amplitude: 0.5, period_samples: 3000}\n"), sink);
    std::map<std::string, const Record*> first;
    for (const Record& record : result.results.records) {
        first.emplace(record.trial_key(), &record);
    }
    double drifted = 0;
    double apart = 0;
    for (const Record& twin : result.twin.records) {
        const Measurement& a = *first.at(twin.trial_key())->measurement;
        drifted = std::max(drifted, std::abs(a.rounds.back().median_us / a.rounds.front().median_us - 1));
        double log_ratio = 0;
        for (std::size_t i = 0; i < a.rounds.size(); ++i) {
            log_ratio += std::log(a.rounds[i].median_us / twin.measurement->rounds[i].median_us);
        }
        apart = std::max(apart, std::abs(log_ratio) / static_cast<double>(a.rounds.size()));
    }
    EXPECT_GT(drifted, 0.1);
    EXPECT_LT(apart, 0.1 * drifted);
}

TEST(Twins, ATrialThatFailsHasNone) {
    const TemporaryFolder folder;
    RecordingSink sink;
    const SweepResult result = run_sweep(twins_of(folder, "faults: [{config: '*.r4.*', at: measure, do: launch_failed, from: 4}]\n"), sink);
    EXPECT_EQ(testing::by_rows(result).at("r4").outcome, Outcome::launch_failed);
    EXPECT_EQ(result.twin.records.size(), 5U);
}

TEST(Twins, OrdinarySweepsHaveNoneAndRacesRefuseThem) {
    const TemporaryFolder folder;
    RecordingSink sink;
    EXPECT_TRUE(run_sweep(small_sweep(folder, "seed: 1\n", "plain"), sink).twin.records.empty());
    SweepOptions race = twins_of(folder, "seed: 1\n");
    race.strategy = find_strategy("racing");
    EXPECT_THROW(run_sweep(race, sink), InputError);
}

}  // namespace
}  // namespace normtune
