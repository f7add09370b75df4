// The two rates that a verdict is worth something by, on noise that is known; benchmarks/bench_compare_rates counts
// more of them, and on recorded sweeps.
#include <gtest/gtest.h>

#include "judge/disturbed_runs.h"
#include "judge/synthetic_runs.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

using testing::NoiseShape;
using testing::synthetic_rows;
using testing::SyntheticSweep;

constexpr int drawn_comparisons = 12;

class Rates : public ::testing::TestWithParam<NoiseShape> {
protected:
    /// The share of pairs that are called slower (or faster as well), over several comparisons.
    double called(double slowdown, bool faster_too) const {
        double count = 0;
        double pairs = 0;
        for (int i = 0; i < drawn_comparisons; ++i) {
            SyntheticSweep sweep;
            sweep.noise = GetParam();
            sweep.seed = static_cast<std::uint64_t>(1000 + 2 * i);
            const ResultRows before = synthetic_rows(sweep);
            ++sweep.seed;
            sweep.planted = [=](int, int) { return 1 + slowdown; };
            const ResultRows after = synthetic_rows(sweep);
            const Comparison comparison = compare(before, after, {});
            count += static_cast<double>(comparison.count(Verdict::slower) + (faster_too ? comparison.count(Verdict::faster) : 0));
            pairs += static_cast<double>(comparison.pairs.size());
        }
        return count / pairs;
    }
};

TEST_P(Rates, FewPairsOfEqualCodeAreCalled) {
    EXPECT_LE(called(0, true), 0.005);
}

TEST_P(Rates, MostSlowdownsOf3PercentAreFound) {
    EXPECT_GE(called(0.03, false), 0.95);
}

TEST_P(Rates, NearlyAllSlowdownsOf5PercentAreFound) {
    EXPECT_GE(called(0.05, false), 0.99);
}

INSTANTIATE_TEST_SUITE_P(Noise, Rates,
                         ::testing::Values(NoiseShape::normal, NoiseShape::skewed, NoiseShape::drifting, NoiseShape::bimodal,
                                           NoiseShape::outliers),
                         [](const auto& noise) { return std::string(testing::noise_shape_names.name(noise.param)); });

using testing::Disturbance;
using testing::DisturbedRuns;
using testing::KnownOfRuns;
using testing::Planted;

/// The share of pairs that are called: of those that were slowed down, else of all that are not known to be of the same code.
double called(const DisturbedRuns& runs, Disturbance disturbance, const KnownOfRuns& known, const Planted& planted, std::uint64_t draws) {
    double count = 0;
    double pairs = 0;
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
        const auto [before, after] = runs.draw(disturbance, known, planted, seed);
        const Comparison comparison = compare(before, after, {});
        for (const Pair& pair : comparison.pairs) {
            if (planted.slowdown > 0 ? runs.is_planted(pair, known, planted, seed) && pair.before > 10 : !pair.same_code) {
                ++pairs;
                count += pair.verdict == Verdict::slower || (planted.slowdown <= 0 && pair.verdict == Verdict::faster) ? 1 : 0;
            }
        }
    }
    return count / pairs;
}

double called(Disturbance disturbance, const KnownOfRuns& known, const Planted& planted, std::uint64_t draws = 12) {
    static const DisturbedRuns runs(std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated/h100_a");
    return called(runs, disturbance, known, planted, draws);
}

class Disturbed : public ::testing::TestWithParam<Disturbance> {};

TEST_P(Disturbed, FewPairsAreCalledWhereRunsOrACodeTellWhatIsNoise) {
    for (const KnownOfRuns& known : {KnownOfRuns{1, true}, KnownOfRuns{3, false}, KnownOfRuns{3, true}}) {
        EXPECT_LE(called(GetParam(), known, {}), 0.005) << known.runs << " runs, codes " << known.codes;
    }
}

TEST_P(Disturbed, FewPairsAreCalledOfOneRunASide) {
    EXPECT_LE(called(GetParam(), {1, false}, {}, 60), 0.005);
}

INSTANTIATE_TEST_SUITE_P(Recorded, Disturbed,
                         ::testing::Values(Disturbance::none, Disturbance::drift, Disturbance::trials, Disturbance::rounds,
                                           Disturbance::states, Disturbance::floor));

TEST(DisturbedRates, OneRunASideFindsSlowdownsWhereTrialsHaveNoStates) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    for (const Disturbance disturbance : {Disturbance::none, Disturbance::drift, Disturbance::floor}) {
        EXPECT_GE(called(disturbance, {1, false}, {0.03, 10}), 0.99);
        EXPECT_GE(called(disturbance, {1, false}, {0.02, 10}), 0.9);
    }
}

TEST(DisturbedRates, ThreeRunsASideFindSmallSlowdowns) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    for (const Disturbance disturbance : {Disturbance::drift, Disturbance::trials}) {
        EXPECT_GE(called(disturbance, {3, false}, {0.03, 10}), 0.95);
        EXPECT_GE(called(disturbance, {3, false}, {0.02, 10}), 0.9);
    }
}

/// Of these sweeps the copies of some problems were another kernel in every third, and two trials differ between runs by 1 to 2%.
TEST(DisturbedRates, SweepsWithUnstableTrialsAndOtherCopies) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    const DisturbedRuns runs(std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated/h100_c");
    EXPECT_LE(called(runs, Disturbance::none, {1, false}, {}, 12), 0.004);
    EXPECT_LE(called(runs, Disturbance::none, {3, false}, {}, 12), 0.004);
    EXPECT_GE(called(runs, Disturbance::none, {1, false}, {0.03, 10}, 12), 0.95);
    EXPECT_GE(called(runs, Disturbance::none, {3, false}, {0.03, 10}, 12), 0.95);
    EXPECT_GE(called(runs, Disturbance::none, {3, false}, {0.02, 10}, 12), 0.9);
}

/// Two dozens of processes on an H200, which had no part in choosing the judge's constants.
TEST(DisturbedRates, SweepsOfADeviceThatConstantsWereNotChosenBy) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    for (const std::string folder : {"h200_a", "h200_b"}) {
        const DisturbedRuns runs(std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated/" + folder);
        for (const Disturbance disturbance : {Disturbance::none, Disturbance::drift, Disturbance::trials, Disturbance::floor}) {
            EXPECT_LE(called(runs, disturbance, {1, false}, {}, 6), 0.005) << folder;
            EXPECT_LE(called(runs, disturbance, {3, false}, {}, 6), 0.005) << folder;
        }
        for (const Disturbance disturbance : {Disturbance::drift, Disturbance::trials}) {
            EXPECT_GE(called(runs, disturbance, {3, false}, {0.03, 10}, 6), 0.95) << folder;
            EXPECT_GE(called(runs, disturbance, {3, false}, {0.02, 10}, 6), 0.9) << folder;
        }
    }
}

}  // namespace
}  // namespace normtune
