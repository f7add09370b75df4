#include "cli/progress.h"

#include <gtest/gtest.h>

namespace normtune::cli {
namespace {

Progress half_way() {
    Progress progress;
    progress.trials_done = 60;
    progress.trials_total = 120;
    progress.trials_per_s = 12.34;
    progress.remaining_s = 75;
    progress.faulty = 2;
    progress.problem_key = "rms_norm/forward/bf16/llama/8192x4096";
    return progress;
}

TEST(ProgressBar, ShowsCountRateRemainingAndFaults) {
    EXPECT_EQ(progress_bar(half_way(), 200),
              "[============>           ] 60/120 trials  12.3/s  1 min 15 s left  2 faulty  "
              "rms_norm/forward/bf16/llama/8192x4096");
}

TEST(ProgressBar, StaysWithinTheTerminal) {
    for (const int width : {40, 60, 80, 100}) {
        EXPECT_LT(progress_bar(half_way(), width).size(), static_cast<std::size_t>(width));
    }
}

TEST(ProgressBar, IsWellFormedAtBothEnds) {
    Progress none;
    none.remaining_s = -1;
    EXPECT_EQ(progress_bar(none, 80), "[>                       ] 0/0 trials  0.000/s");
    Progress all = half_way();
    all.trials_done = all.trials_total;
    EXPECT_EQ(progress_bar(all, 80).substr(0, 26), "[========================]");
}

TEST(ProgressLine, IsPlain) {
    EXPECT_EQ(progress_line(half_way()), "60 of 120 trials, 12.3/s, 1 min 15 s left, 2 faulty");
}

}  // namespace
}  // namespace normtune::cli
