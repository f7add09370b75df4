#include "verify/bounds.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

Bound y_of(const char* key) {
    return y_bound(parse_problem_key(key));
}

TEST(Bounds, OfYAreTheCastings) {
    EXPECT_DOUBLE_EQ(y_of("rms_norm/forward/bf16/gemma/8x128").relative, 1.1 * 0x1p-8);
    EXPECT_DOUBLE_EQ(y_of("rms_norm/forward/fp16/gemma/8x128").relative, 1.1 * 0x1p-11);
    EXPECT_DOUBLE_EQ(y_of("rms_norm/forward/bf16/llama/8x128").relative, 2.2 * 0x1p-8);
    EXPECT_DOUBLE_EQ(y_of("rms_norm/forward/fp32/llama/8x64").relative, 16 * 0x1p-24);
    EXPECT_GT(y_of("rms_norm/forward/bf16/none/8x128").relative, y_of("rms_norm/forward/bf16/llama/8x128").relative);
}

TEST(Bounds, OfRstdGrowWithTheRow) {
    EXPECT_DOUBLE_EQ(rstd_error(2048), 5e-6);
    EXPECT_GT(rstd_error(131072), 5e-5);
    EXPECT_LT(rstd_error(131072), 1e-4);
    EXPECT_DOUBLE_EQ(y_of("rms_norm/forward/fp32/gemma/8x131072").relative, 16 * 0x1p-24) << "relative to the kernel's rstd";
}

TEST(Bounds, OnlyFp16HasAFloorThatMatters) {
    EXPECT_GE(y_of("rms_norm/forward/fp16/llama/8x128").absolute, 0x1p-24);
    EXPECT_LT(y_of("rms_norm/forward/bf16/llama/8x128").absolute, 1e-37);
}

TEST(Bounds, OfDxAreOfTheRowsScale) {
    EXPECT_NEAR(dx_bound(parse_problem_key("rms_norm/backward/bf16/llama/8x128"), {4, 1, 0}).absolute, 1.5 * 0x1p-8 * 4, 1e-12);
    EXPECT_NEAR(dx_bound(parse_problem_key("rms_norm/backward/fp32/llama/8x128"), {4, 1, 0}).absolute, 32 * 0x1p-24 * 4, 1e-12);
    EXPECT_GT(dx_bound(parse_problem_key("fused_add_rms_norm/backward/bf16/llama/8x128"), {4, 1, 0}).relative, 0)
        << "ds is part of what is rounded";
    const Problem full = parse_problem_key("rms_norm/full/fp32/llama/8x128");
    EXPECT_GT(dx_bound(full, {4, 1, 1e-6}).absolute, dx_bound(full, {4, 1, 0}).absolute) << "the kernel's own rstd";
}

TEST(Bounds, OfDgamma) {
    const auto dgamma = [](const char* key) { return dgamma_bound(parse_problem_key(key), 100, 1, 0).absolute; };
    EXPECT_NEAR(dgamma("rms_norm/backward/bf16/gemma/1024x128"), 1.5 * 0x1p-8 * 100, 1e-3);
    EXPECT_NEAR(dgamma("rms_norm/backward/bf16/llama/1024x128"), 2.2 * 0x1p-8 * 100, 1e-3);
    EXPECT_NEAR(dgamma("rms_norm/backward/bf16/llama/1048576x128"), 6 * 0x1p-8 * 1024, 0.5);
    EXPECT_NEAR(dgamma("rms_norm/backward/fp32/llama/100x128"), 5e-6 * 10, 1e-9);
}

TEST(Bounds, FewElementsMayDifferByChance) {
    EXPECT_EQ(most_differing(0.01, 0), 3);
    EXPECT_EQ(most_differing(0.01, 10000), 163);
    EXPECT_LT(differing_share(parse_problem_key("rms_norm/forward/bf16/llama/8x4096")), 0.02);
    EXPECT_LE(differing_share(parse_problem_key("rms_norm/forward/fp16/llama/8x131072")), 0.12);
}

}  // namespace
}  // namespace normtune
