#include "judge/selfcheck.h"

#include <gtest/gtest.h>

#include "judge/policy.h"
#include "judge/synthetic_runs.h"

namespace normtune {
namespace {

std::vector<ResultRows> sweeps(double round_deviation, double run_deviation) {
    std::vector<ResultRows> out;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        testing::SyntheticSweep sweep;
        sweep.problems = 8;
        sweep.configurations = 6;
        sweep.round_deviation = round_deviation;
        sweep.run_deviation = run_deviation;
        sweep.seed = seed;
        out.push_back(testing::synthetic_rows(sweep));
    }
    return out;
}

TEST(SelfCheck, AQuietDeviceTellsSmallChanges) {
    const std::vector<ResultRows> quiet = sweeps(0.001, 0.001);
    const SelfCheck check = check_itself(quiet, {});
    EXPECT_EQ(check.comparisons, 6U);
    EXPECT_EQ(check.pairs, 6U * 48U);
    EXPECT_EQ(check.called, 0U);
    EXPECT_LT(check.usual_change, 0.025);
    EXPECT_GT(check.usual_change, 0.01);  // no less than the threshold that it is called from
}

TEST(SelfCheck, ANoisyDeviceAsksForLargerThresholds) {
    const std::vector<ResultRows> quiet = sweeps(0.001, 0.001);
    const std::vector<ResultRows> noisy = sweeps(0.03, 0.01);
    const SelfCheck check = check_itself(noisy, {});
    EXPECT_GT(check.usual_change, 2 * check_itself(quiet, {}).usual_change);
    EXPECT_GE(check.percent_threshold, 0.04);
    EXPECT_GT(check.run_to_run, 0.005);
    EXPECT_LT(check.run_to_run, 0.03);
}

TEST(SelfCheck, ItsPolicyReadsBack) {
    SelfCheck check;
    check.percent_threshold = 0.035;
    check.run_to_run = 0.0061;
    check.noisier = {{"rms_norm/forward/bf16/llama/1x4096", 0.12}};
    const Policy policy = parse_policy(policy_from(check, {}, "here", "a remark"), "policy.yaml");
    EXPECT_EQ(policy.name, "here");
    EXPECT_NEAR(policy.threshold, 0.035, 1e-12);
    EXPECT_NEAR(policy.run_to_run, 0.0061, 1e-12);
    ASSERT_EQ(policy.thresholds.size(), 2U);
    EXPECT_EQ(policy.thresholds[0].pairs.metric, Metric::memory);
    EXPECT_NEAR(policy.thresholds[1].threshold, 0.12, 1e-12);
}

TEST(SelfCheck, ThePolicyHasTheLargerThresholds) {
    SelfCheck sweeps;
    sweeps.percent_threshold = 0.02;
    sweeps.noisier = {{"rms_norm/forward/bf16/llama/1x128", 0.03}, {"rms_norm/forward/bf16/llama/1x4096", 0.12}};
    SelfCheck twins;
    twins.percent_threshold = 0.04;
    twins.noisier = {{"rms_norm/forward/bf16/llama/1x4096", 0.2}};
    const Policy policy = parse_policy(policy_from(sweeps, twins, "here", "a remark"), "policy.yaml");
    EXPECT_NEAR(policy.threshold, 0.04, 1e-12);
    ASSERT_EQ(policy.thresholds.size(), 2U);  // 3% is within what all tell
    EXPECT_NEAR(policy.thresholds[1].threshold, 0.2, 1e-12);
}

TEST(SelfCheck, SweepsOfDifferentSelectionsSaySo) {
    std::vector<ResultRows> different = sweeps(0.001, 0.001);
    different.resize(1);
    different.push_back(rows_of(Results{}, "empty"));
    const SelfCheck check = check_itself(different, {});
    EXPECT_EQ(check.pairs, 0U);
    EXPECT_NE(check.not_comparable, "");
}

}  // namespace
}  // namespace normtune
