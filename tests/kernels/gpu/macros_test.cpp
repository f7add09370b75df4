#include "kernels/gpu/macros.h"

#include <gtest/gtest.h>

#include <map>

#include "kernels/gpu/emulated_device.h"

namespace normtune::gpu {
namespace {

std::map<std::string, std::string> macro_map(const char* problem, const char* configuration) {
    std::map<std::string, std::string> out;
    for (const Macro& macro : macros(Configuration::parse(configuration), parse_problem_key(problem), testing::emulated_device_info(32))) {
        EXPECT_TRUE(macro.name.starts_with("NT_")) << macro.name;
        EXPECT_TRUE(out.emplace(macro.name, macro.value).second) << macro.name;
    }
    return out;
}

TEST(Macros, RowsArePartOfTheCodeOnlyWhereTheyAreBoundToIt) {
    const char* contiguous = "w4.t128.r1.row.registers.masked.persistent_contiguous";
    EXPECT_NE(macro_map("rms_norm/backward/bf16/llama/800x1024", contiguous),
              macro_map("rms_norm/backward/bf16/llama/900x1024", contiguous));
    for (const char* c :
         {"w4.t128.r1.row.registers.masked.persistent_contiguous.runtime", "w4.t128.r1.row.registers.masked.persistent_strided",
          "w4.t128.r4.row.registers.masked.packed", "w4.t128.r1.row.registers.masked.per_row.split"}) {
        EXPECT_EQ(macro_map("rms_norm/backward/bf16/llama/800x1024", c), macro_map("rms_norm/backward/bf16/llama/1x1024", c)) << c;
    }
}

TEST(Macros, OffsetsWidenByThemselvesWhereTheyMust) {
    const char* c = "w4.t128.r1.row.registers.masked.per_row";
    EXPECT_EQ(macro_map("rms_norm/forward/bf16/llama/1000000x2048", c).at("NT_OFFSET_BITS"), "32");
    EXPECT_EQ(macro_map("rms_norm/forward/bf16/llama/1048576x2048", c).at("NT_OFFSET_BITS"), "64");
    EXPECT_EQ(macro_map("rms_norm/forward/bf16/llama/8x2048", "w4.t128.r1.row.registers.masked.per_row.o64").at("NT_OFFSET_BITS"), "64");
}

TEST(Macros, FullFusedBackwardReadsContiguousRows) {
    const auto fused = macro_map("fused_add_rms_norm/full/bf16/llama/8x512/stride576", "w4.t128.r1.row.registers.masked.per_row");
    EXPECT_EQ(fused.at("NT_X_STRIDE"), "576");
    EXPECT_EQ(fused.at("NT_BACKWARD_X_STRIDE"), "512");
    const auto plain = macro_map("rms_norm/full/bf16/llama/8x512/stride576", "w4.t128.r1.row.registers.masked.per_row");
    EXPECT_EQ(plain.at("NT_BACKWARD_X_STRIDE"), "576");
}

TEST(Source, HoldsTogetherWithNoIncludes) {
    const std::string text = self_contained_source(
        macros(Configuration{}, parse_problem_key("rms_norm/forward/bf16/llama/8x512"), testing::emulated_device_info(32)));
    EXPECT_EQ(text.find("#include"), std::string::npos);
    EXPECT_NE(text.find("#define NT_COLS 512"), std::string::npos);
    for (const char* part : {"nt_forward(", "nt_backward(", "nt_reduce(", "nt_dgamma("}) {
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
}

}  // namespace
}  // namespace normtune::gpu
