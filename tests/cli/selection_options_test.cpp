#include "cli/selection_options.h"

#include <gtest/gtest.h>

#include "support/atomic_file.h"
#include "support/temporary_folder.h"

namespace normtune::cli {
namespace {

std::vector<Problem> selected(const std::vector<std::string>& words) {
    OptionSet options("try", "Tries things.");
    SelectionOptions selection;
    selection.declare(options);
    options.parse(words);
    return selection.work().problems;
}

// What a study says is a default: the command line has the last word, also where it asks for what is usual.
TEST(SelectionOptions, OverrideAStudy) {
    const testing::TemporaryFolder folder;
    const std::string study = folder / "study.yaml";
    write_file_atomically(study,
                          "name: study\nquestion: Which?\nshapes: [qwen3]\n"
                          "select: {models: [Qwen3-8B], sites: [hidden], tokens: [1], dtypes: [bf16], ops: [fused_add_rms_norm], "
                          "modes: [forward], residual: fp32}\nspace: {axes: {num_warps: [4]}}\n");
    const std::vector<Problem> of_study = selected({"--study", study});
    ASSERT_EQ(of_study.size(), 1U);
    EXPECT_EQ(of_study[0].operation.residual, ResidualPrecision::fp32);
    const std::vector<Problem> rounded = selected({"--study", study, "--residual", "rounded"});
    ASSERT_EQ(rounded.size(), 1U);
    EXPECT_EQ(rounded[0].operation.residual, ResidualPrecision::rounded);
}

}  // namespace
}  // namespace normtune::cli
