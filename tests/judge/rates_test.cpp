// The two rates that a verdict is worth something by, on noise that is known; benchmarks/bench_compare_rates counts
// more of them, and on recorded sweeps.
#include <gtest/gtest.h>

#include "judge/comparison.h"
#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

using testing::NoiseShape;
using testing::synthetic_rows;
using testing::SyntheticSweep;

constexpr int comparisons = 12;

class Rates : public ::testing::TestWithParam<NoiseShape> {
protected:
    /// The share of pairs that are called slower (or faster as well), over several comparisons.
    double called(double slowdown, bool faster_too) const {
        double count = 0;
        double pairs = 0;
        for (int i = 0; i < comparisons; ++i) {
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

}  // namespace
}  // namespace normtune
