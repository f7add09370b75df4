#include "run/problem_trials.h"

#include <gtest/gtest.h>

#include <memory>

#include "devices/registry.h"
#include "run/sweep_fixture.h"
#include "support/error.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

class ChooseTrials : public ::testing::Test {
protected:
    ProblemTrials choose(TrialAllowance& allowance) {
        return choose_trials(options_.problems[0], options_, backend_traits(options_.backend), device_, allowance);
    }
    std::string refusal(TrialAllowance& allowance) {
        try {
            choose(allowance);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    testing::TemporaryFolder folder_;
    SweepOptions options_ = testing::small_sweep(folder_, "copy: {us: 10}\n");
    DeviceInfo device_ = describe_device(Backend::replay, 0, options_.replay_script);
};

TEST_F(ChooseTrials, ProblemsShareWhatASweepMayTake) {
    TrialAllowance allowance(14);
    EXPECT_EQ(choose(allowance).candidates.size(), 6U);
    EXPECT_EQ(choose(allowance).candidates.size(), 6U);
    const std::string why = refusal(allowance);
    EXPECT_NE(why.find("more than 14 trials, " + options_.problems[0].key()), std::string::npos) << why;
    EXPECT_NE(why.find("--strategy random --trials N"), std::string::npos) << why;
    options_.problems.push_back(testing::small_problem(512));
    EXPECT_NE(refusal(allowance).find("more than 14 trials, in 2 problems"), std::string::npos);
}

// A sweep ranks and drops by time: it takes one kind of launch a problem.
TEST_F(ChooseTrials, PlainAndDependentLaunchesDoNotShareAProblem) {
    const auto mixed = [&](std::vector<int> values) {
        options_.space.axes.resize(2);
        options_.space.axes.push_back({Axis::dependent_launch, std::move(values)});
        TrialAllowance allowance(100);
        return mixed_launches({choose(allowance)});
    };
    EXPECT_EQ(mixed({0}), "");
    EXPECT_EQ(mixed({1}), "");
    EXPECT_THROW(mixed({0, 1}), InputError);
}

TEST_F(ChooseTrials, AnothersDependentLaunchIsWarnedOf) {
    TrialAllowance allowance(100);
    ProblemTrials trials = choose(allowance);
    auto manifest = std::make_shared<LaunchManifest>();
    manifest->plan.launches.resize(2);
    trials.candidates.emplace_back(manifest);
    EXPECT_EQ(mixed_launches({trials}), "");
    auto dependent = std::make_shared<LaunchManifest>(*manifest);
    dependent->plan.launches[1].overlaps = true;
    trials.candidates.emplace_back(dependent);
    EXPECT_EQ(mixed_launches({trials}), "") << "within the op a launch may overlap the one ahead";
    dependent->plan.launches[0].overlaps = true;
    const std::string warning = mixed_launches({trials});
    EXPECT_NE(warning.find(options_.problems[0].key()), std::string::npos) << warning;
}

TEST_F(ChooseTrials, ADrawTakesWhatIsDrawn) {
    options_.strategy = find_strategy("random");
    options_.most_trials_per_problem = 4;
    TrialAllowance allowance(8);
    EXPECT_EQ(choose(allowance).candidates.size(), 4U);
    EXPECT_EQ(choose(allowance).candidates.size(), 4U);
    EXPECT_FALSE(refusal(allowance).empty());
}

}  // namespace
}  // namespace normtune
