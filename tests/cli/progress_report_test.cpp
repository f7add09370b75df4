#include "cli/progress.h"

#include <cstdio>
#include <string>

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

TEST(ProgressBar, SaysWhatIsDoneBeforeTheTrials) {
    Progress progress;
    progress.trials_total = 362;
    progress.remaining_s = -1;
    progress.problem_key = "rms_norm/forward/bf16/llama/8192x4096";
    progress.doing = "filling 1.9 GiB of buffers";
    EXPECT_EQ(progress_bar(progress, 200),
              "[>                       ] 0/362 trials  0.000/s  filling 1.9 GiB of buffers  rms_norm/forward/bf16/llama/8192x4096");
    EXPECT_NE(progress_bar(progress, 80).find("filling 1.9 GiB of buffers"), std::string::npos);
}

TEST(ProgressReport, InAPipeALineSaysWhatTakesSecondsOnce) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    {
        ProgressReport report(file, false);
        Progress progress;
        progress.trials_total = 3;
        progress.problem_key = "rms_norm/forward/bf16/llama/8x64";
        progress.doing = "filling 1 KiB of buffers";
        report.update(progress);
        progress.problem_key = "rms_norm/forward/bf16/llama/8192x4096";
        progress.doing = "filling 1.9 GiB of buffers";
        progress.lasting = true;
        report.update(progress);
        report.update(progress);
    }
    std::rewind(file);
    char text[200] = {};
    const std::size_t size = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
    EXPECT_EQ(std::string(text, size), "rms_norm/forward/bf16/llama/8192x4096: filling 1.9 GiB of buffers\n");
}

TEST(ProgressLine, IsPlain) {
    EXPECT_EQ(progress_line(half_way()), "60 of 120 trials, 12.3/s, 1 min 15 s left, 2 faulty");
}

}  // namespace
}  // namespace normtune::cli
