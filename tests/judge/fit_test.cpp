#include "judge/fit.h"

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "judge/synthetic_records.h"
#include "report/fit_report.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::add;
using testing::narrow;
using testing::problem_of;
using testing::wide;

/// Up to 4096 columns `narrow` wins, beyond `wide`, by 10%; six N of two M each.
Results two_steps() {
    Results results;
    for (const std::int64_t cols : {1023, 2047, 4095, 5119, 8191, 16383}) {
        for (const std::int64_t rows : {1, 8192}) {
            const bool small = cols < 5000;
            add(results, problem_of(rows, cols), {{narrow, small ? 10.0 : 11.0}, {wide, small ? 11.0 : 10.0}});
        }
    }
    return results;
}

Fits fit_with(const Results& results, const std::string& hold_out, std::size_t most_steps = 0, double tolerance = 0.02) {
    FitSettings settings;
    settings.hold_out = HoldOut::parse(hold_out);
    settings.most_steps = most_steps;
    settings.tolerance = tolerance;
    return fit({&results, 1}, settings, backend_traits(Backend::cuda));
}

TEST(Fit, FindsTheThresholdAndIsJudgedOnWhatItDidNotSee) {
    const Results results = two_steps();
    const Fits fits = fit_with(results, "4");
    ASSERT_EQ(fits.fits.size(), 1u);
    const Fit& fit = fits.fits[0];
    EXPECT_EQ(fit.operation, "rms_norm/forward/bf16/llama");
    EXPECT_TRUE(fit.within);
    EXPECT_EQ(fit.ladder->steps(), 2u);
    EXPECT_EQ(fit.ladder->bands[0].cols_to, 4095);
    EXPECT_EQ(fit.held_out.shapes.size(), 3u);  // the 2nd, 6th and 10th of twelve
    EXPECT_EQ(fit.held_out.shapes[0].rows, 8192);
    EXPECT_EQ(fit.held_out.shapes[0].cols, 1023);
    EXPECT_EQ(fit.fitted.shapes.size(), 9u);
    EXPECT_EQ(fit.on_held_out.judged, 3u);
    EXPECT_EQ(fit.on_held_out.worst, 0);
}

TEST(Fit, AHeldOutShapeBetweenTwoStepsTakesTheUpperOne) {
    const Results results = two_steps();
    FitSettings settings;
    settings.hold_out = HoldOut::parse("Made-1B/hidden");
    EXPECT_THROW(fit({&results, 1}, settings, backend_traits(Backend::cuda)), InputError);  // nothing is left
    Results between = two_steps();
    for (Record& record : between.records) {
        record.problem.uses[0].model = record.problem.shape.cols == 4095 ? "Other" : "Made-1B";
    }
    settings.hold_out = HoldOut::parse("Otter/*");
    EXPECT_THROW(fit({&between, 1}, settings, backend_traits(Backend::cuda)), InputError);  // no shape is of such a model
    settings.hold_out = HoldOut::parse("Oth*/*");
    const Fits fits = fit({&between, 1}, settings, backend_traits(Backend::cuda));
    EXPECT_EQ(fits.fits[0].held_out.shapes.size(), 2u);
    EXPECT_NEAR(fits.fits[0].on_held_out.mean, 0.1, 1e-12);
}

TEST(Fit, WithTooFewStepsTheBestThatCanBeReachedIsSaid) {
    const Results results = two_steps();
    const Fits fits = fit_with(results, "none", 1);
    const Fit& fit = fits.fits[0];
    EXPECT_FALSE(fit.within);
    ASSERT_TRUE(fit.ladder);
    EXPECT_EQ(fit.ladder->steps(), 1u);
    EXPECT_NEAR(fit.on_fitted.worst, 0.1, 1e-12);
    EXPECT_EQ(fit.in_the_way.size(), 6u);
    EXPECT_TRUE(fit_with(results, "none", 1, 0.11).fits[0].within);
}

TEST(Fit, WhereSoFewStepsMakeNoLadderItSaysHowManyDo) {
    Results results;
    for (const std::int64_t cols : {1023, 4095, 16383}) {
        add(results, problem_of(8, cols), {{cols == 4095 ? wide : narrow, 10.0}});
    }
    const Fits fits = fit_with(results, "none", 1);
    const Fit& one = fits.fits[0];
    EXPECT_FALSE(one.ladder);
    EXPECT_EQ(one.steps_needed, std::optional<std::size_t>(3));
    EXPECT_NE(fit_title(one).find("one of 3 steps and more"), std::string::npos) << fit_title(one);
    EXPECT_EQ(fit_with(results, "none", 3).fits[0].ladder->steps(), 3u);
    EXPECT_FALSE(fit_with(results, "none", 3).fits[0].steps_needed);
}

TEST(Fit, ARuleOfThumbStandsBesideALadderOfItsOwnAxes) {
    const Results results = two_steps();
    const Fits fits = fit_with(results, "4");
    const Fit& fit = fits.fits[0];
    const Rival& liger = fit.rivals[1];
    EXPECT_EQ(liger.name, "liger_calculate_settings");
    // Its 4 warps up to 1024 columns and 16 from a block of 8192 were measured, its 8 between were not.
    EXPECT_EQ(liger.obeyed, 2u);
    EXPECT_EQ(liger.rule.judged, 2u);
    EXPECT_EQ(liger.rule.worst, 0);
    EXPECT_EQ(liger.ladder_steps, 2u);
    EXPECT_EQ(liger.same_axes.worst, 0);
    EXPECT_EQ(liger.ladder.judged, 2u);
    const Rival& te = fit.rivals[0];  // one row a program: all that was measured obeys
    EXPECT_EQ(te.ladder_steps, 1u);
    EXPECT_EQ(te.rule.judged, 3u);
}

TEST(Fit, StepsShrinkAsTheToleranceGrows) {
    const Results results = two_steps();
    const Fits fits = fit_with(results, "none");
    const std::vector<StepsAt>& at = fits.fits[0].steps_at;
    ASSERT_EQ(at.size(), 5u);
    EXPECT_EQ(at.front().steps, 2u);
    for (std::size_t i = 1; i < at.size(); ++i) {
        EXPECT_LE(at[i].steps.value(), at[i - 1].steps.value());
    }
}

TEST(Fit, OperationsAreFittedApart) {
    Results results = two_steps();
    add(results, problem_of(8, 1024, Mode::backward), {{narrow, 1}});
    EXPECT_EQ(fit_with(results, "none").fits.size(), 2u);
    FitSettings settings;
    settings.modes = {Mode::backward};
    settings.hold_out = HoldOut::parse("none");
    const Fits fits = fit({&results, 1}, settings, backend_traits(Backend::cuda));
    ASSERT_EQ(fits.fits.size(), 1u);
    EXPECT_EQ(fits.fits[0].operation, "rms_norm/backward/bf16/llama");
    settings.modes = {Mode::full};
    EXPECT_THROW(fit({&results, 1}, settings, backend_traits(Backend::cuda)), InputError);
}

TEST(HoldOut, WordsThatAreNoneAreRefused) {
    for (const char* wrong : {"", "0", "1", "4:0", "4:5", "x", "4:", ":1", "-4", "4.5", "99999"}) {
        EXPECT_THROW(HoldOut::parse(wrong), InputError) << wrong;
    }
    EXPECT_EQ(HoldOut::parse("3:3").text(), "3:3");
}

}  // namespace
}  // namespace normtune
