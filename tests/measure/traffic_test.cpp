#include "measure/traffic.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

using enum TensorRole;

std::vector<PassTraffic> traffic(const std::string& what) {
    return signal_traffic(parse_problem_key(what));
}

TEST(Traffic, IsThatOfThePasses) {
    EXPECT_EQ(traffic("rms_norm/forward/bf16/llama/8x512"), (std::vector<PassTraffic>{{{x}, {y}}}));
    EXPECT_EQ(traffic("rms_norm/backward/bf16/llama/8x512"), (std::vector<PassTraffic>{{{x, dy}, {dx}}}));
    EXPECT_EQ(traffic("rms_norm/full/bf16/llama/8x512"), (std::vector<PassTraffic>{{{x}, {y}}, {{x, dy}, {dx}}}));
    EXPECT_EQ(traffic("fused_add_rms_norm/forward/bf16/llama/8x512"), (std::vector<PassTraffic>{{{x, residual}, {y, s}}}));
    EXPECT_EQ(traffic("fused_add_rms_norm/backward/bf16/llama/8x512"), (std::vector<PassTraffic>{{{x, dy, ds}, {dx}}}));
    EXPECT_EQ(traffic("fused_add_rms_norm/full/bf16/llama/8x512").at(1), (PassTraffic{{s, dy, ds}, {dx}})) << "the s of its forward";
}

TEST(Traffic, InPlaceTheTensorThatIsWrittenOverComesFirst) {
    EXPECT_EQ(traffic("rms_norm/backward/bf16/llama/8x512/in_place"), (std::vector<PassTraffic>{{{dy, x}, {dy}, true}}));
    EXPECT_EQ(traffic("rms_norm/full/bf16/llama/8x512/in_place").at(0), (PassTraffic{{x}, {y}}));
    EXPECT_EQ(traffic("rms_norm/inference/bf16/llama/8x512/in_place"), (std::vector<PassTraffic>{{{x}, {x}, true}}));
    EXPECT_EQ(traffic("fused_add_rms_norm/inference/bf16/llama/8x512/in_place"),
              (std::vector<PassTraffic>{{{x, residual}, {x, residual}, true}}));
}

// The rest of the least bytes are statistics and weights.
TEST(Traffic, AddsUpToTheLeastBytes) {
    for (const char* op : {"rms_norm", "fused_add_rms_norm"}) {
        for (const char* mode : {"forward", "backward", "full", "inference"}) {
            const Problem problem = parse_problem_key(std::string(op) + "/" + mode + "/fp32/llama/64x4096");
            std::int64_t streams = 0;
            for (const PassTraffic& pass : signal_traffic(problem)) {
                streams += static_cast<std::int64_t>(pass.reads.size() + pass.writes.size());
            }
            const std::int64_t moved = streams * signal_bytes(problem);
            EXPECT_LE(moved, least_bytes(problem)) << problem.key();
            EXPECT_GT(moved, least_bytes(problem) * 95 / 100) << problem.key();
        }
    }
}

}  // namespace
}  // namespace normtune
