#include "problem/problem.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace normtune {
namespace {

Problem problem(const char* key) {
    return parse_problem_key(key);
}

std::string roles(const Problem& p) {
    std::string out;
    for (const Tensor& t : tensors(p)) {
        out += out.empty() ? "" : " ";
        out += t.access == Access::in ? "" : t.access == Access::out ? ">" : "<>";
        out += tensor_names.name(t.role);
    }
    return out;
}

TEST(Problem, KeysComeBack) {
    for (const char* key :
         {"rms_norm/forward/bf16/llama/8192x4096", "rms_norm/backward/fp32/gemma/1x7/offset1/in_place",
          "fused_add_rms_norm/full/fp16/none/173x409/w_fp32/in_place/residual_fp32", "rms_norm/forward/bf16/llama/128x512/stride576",
          "rms_norm/inference/bf16/llama/128x512/stride576", "fused_add_rms_norm/inference/fp16/llama/8x512/in_place/residual_fp32",
          "rms_norm/backward/bf16/llama/64x128/weightless"}) {
        EXPECT_EQ(problem(key).key(), key);
    }
}

TEST(Problem, BadKeysSayWhatWouldBeRight) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "op/mode/dtype/casting/ROWSxCOLS"},
        {"a\nkey", "op/mode/dtype/casting/ROWSxCOLS"},
        {"rms_norm/for\nward/bf16/llama/1x1", "is not"},
        {"rms_norm/forward/bf16/llama/1000000000000x1000000000000\n", "is not"},
        {"rmsnorm/forward/bf16/llama/1x1", "one of rms_norm, fused_add_rms_norm"},
        {"rms_norm/forward/bf16/llama/0x4096", "a size from 1 to"},
        {"rms_norm/forward/bf16/llama/-1x4096", "a size from 1 to"},
        {"rms_norm/forward/bf16/llama/99999999999999999999x4096", "a size from 1 to"},
        {"rms_norm/forward/bf16/llama/1000000000000x1000000000000", "more than"},
        {"rms_norm/forward/bf16/llama/8192", "ROWSxCOLS"},
        {"rms_norm/forward/bf16/llama/8x512/stride511", "at least the 512 columns"},
        {"rms_norm/forward/bf16/llama/8x512/in_place", "in_place (backward, full, inference)"},
        {"rms_norm/inference/bf16/llama/8x512/stride576/in_place", "contiguous rows"},
        {"rms_norm/inference/bf16/llama/8x512/in_place/stride576", "contiguous rows"},
        {"rms_norm/forward/bf16/llama/8x512/residual_fp32", "residual_fp32 (fused)"}};
    for (const auto& [key, says] : cases) {
        try {
            parse_problem_key(key);
            FAIL() << key;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        }
    }
}

TEST(Problem, SameWorkIgnoresEpsAndUses) {
    Problem a = problem("rms_norm/forward/bf16/llama/8x512");
    Problem b = a;
    b.operation.eps = 1e-5;
    b.uses = {{"Llama", "hidden", 8}};
    EXPECT_TRUE(a.same_work(b));
    b.operation.offset = 1;
    EXPECT_FALSE(a.same_work(b));
}

TEST(Problem, TensorsOfEachMode) {
    EXPECT_EQ(roles(problem("rms_norm/forward/bf16/llama/8x512")), "x gamma >y >rstd");
    EXPECT_EQ(roles(problem("fused_add_rms_norm/forward/bf16/llama/8x512")), "x residual gamma >y >s >rstd");
    EXPECT_EQ(roles(problem("rms_norm/inference/bf16/llama/8x512")), "x gamma >y");
    EXPECT_EQ(roles(problem("fused_add_rms_norm/inference/bf16/llama/8x512/in_place")), "<>x <>residual gamma");
    EXPECT_EQ(roles(problem("rms_norm/backward/bf16/llama/8x512")), "x gamma dy rstd >dx >dgamma");
    EXPECT_EQ(roles(problem("rms_norm/backward/bf16/llama/8x512/in_place")), "x gamma <>dy rstd >dgamma");
    EXPECT_EQ(roles(problem("fused_add_rms_norm/backward/bf16/llama/8x512")), "x gamma dy ds rstd >dx >dgamma");
    EXPECT_EQ(roles(problem("rms_norm/backward/bf16/llama/8x512/weightless")), "x dy rstd >dx");
    EXPECT_EQ(roles(problem("fused_add_rms_norm/full/bf16/llama/8x512")), "x residual gamma dy ds >y >s >rstd >dx >dgamma");
}

TEST(Problem, LeastBytesCountEachElementOnceAndNoGaps) {
    constexpr std::int64_t m = 8, n = 512, elements = m * n;
    EXPECT_EQ(least_bytes(problem("rms_norm/forward/bf16/llama/8x512/stride576")), 2 * 2 * elements + 2 * n + 4 * m);
    EXPECT_EQ(least_bytes(problem("rms_norm/backward/bf16/llama/8x512")), 3 * 2 * elements + 2 * 2 * n + 4 * m);
    EXPECT_EQ(least_bytes(problem("rms_norm/backward/bf16/llama/8x512/in_place")),
              least_bytes(problem("rms_norm/backward/bf16/llama/8x512")));
    EXPECT_EQ(least_bytes(problem("rms_norm/inference/bf16/llama/8x512/stride576")), 2 * 2 * elements + 2 * n);
    EXPECT_EQ(least_bytes(problem("fused_add_rms_norm/inference/bf16/llama/8x512/in_place")), 4 * 2 * elements + 2 * n);
    EXPECT_EQ(least_bytes(problem("fused_add_rms_norm/forward/fp32/llama/8x512")), 4 * 4 * elements + 4 * n + 4 * m);
    EXPECT_EQ(least_bytes(problem("fused_add_rms_norm/full/fp32/llama/8x512")),
              least_bytes(problem("fused_add_rms_norm/forward/fp32/llama/8x512")) +
                  least_bytes(problem("fused_add_rms_norm/backward/fp32/llama/8x512")));
}

TEST(Problem, TensorBytesIncludeTheGapsOfAStrideButNotAfterTheLastRow) {
    EXPECT_EQ(tensor_bytes(problem("rms_norm/forward/bf16/llama/8x512/stride576")), 2 * (7 * 576 + 512) + 2 * 8 * 512 + 2 * 512 + 4 * 8);
    EXPECT_LT(tensor_bytes(problem("rms_norm/backward/bf16/llama/8x512/in_place")),
              tensor_bytes(problem("rms_norm/backward/bf16/llama/8x512")));
}

TEST(Problem, UsesAreJoinedOnceEachInOrder) {
    const std::vector<Use> uses{{"A", "hidden", 1}, {"B", "hidden", 1}, {"A", "q_norm", 1}};
    EXPECT_EQ(joined_models(uses), "A;B");
    EXPECT_EQ(joined_sites(uses), "hidden;q_norm");
}

}  // namespace
}  // namespace normtune
