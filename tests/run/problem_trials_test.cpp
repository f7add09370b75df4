#include "run/problem_trials.h"

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "run/sweep_fixture.h"
#include "support/error.h"

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
