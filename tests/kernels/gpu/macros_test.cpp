#include "kernels/gpu/macros.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "kernels/gpu/emulated_device.h"
#include "kernels/gpu/source_parts.h"

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

TEST(Macros, InferenceStoresNoRstdAndIsTheOnlyForwardInPlace) {
    const char* c = "w4.t128.r1.row.registers.masked.per_row";
    const auto values = [&](const char* problem) {
        const auto all = macro_map(problem, c);
        return all.at("NT_FORWARD") + all.at("NT_BACKWARD") + all.at("NT_RSTD") + all.at("NT_IN_PLACE");
    };
    EXPECT_EQ(values("rms_norm/forward/bf16/llama/8x512"), "1010");
    EXPECT_EQ(values("rms_norm/inference/bf16/llama/8x512"), "1000");
    EXPECT_EQ(values("fused_add_rms_norm/inference/bf16/llama/8x512/in_place"), "1001");
    EXPECT_EQ(values("rms_norm/full/bf16/llama/8x512/in_place"), "1111");
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

/// "NT_RESIDENCY_registers" → 0, …: what the source's head defines.
std::map<std::string, int> value_names() {
    std::map<std::string, int> out;
    const std::string text(source());
    const std::regex definition("#define (NT_[A-Z_]+_[a-z0-9_]+) ([0-9]+)");
    for (std::sregex_iterator it(text.begin(), text.end(), definition); it != std::sregex_iterator(); ++it) {
        out[(*it)[1]] = std::stoi((*it)[2]);
    }
    return out;
}

TEST(Source, NamesOfValuesAreTheTables) {
    const std::map<std::string, int> names = value_names();
    EXPECT_EQ(names.at("NT_LOAD_HINT_streaming"), static_cast<int>(CacheHint::streaming));
    EXPECT_EQ(names.at("NT_DGAMMA_published"), static_cast<int>(DgammaMethod::published));
    EXPECT_EQ(names.at("NT_DTYPE_fp16"), static_cast<int>(Dtype::fp16));
    EXPECT_EQ(names.at("NT_CASTING_none"), static_cast<int>(Casting::none));
}

// In #if an unknown name is 0, so that no compiler tells one.
TEST(Source, ComparesNamedValuesByTheirNamesAlone) {
    const std::map<std::string, int> names = value_names();
    std::set<std::string> macros;
    for (const auto& [name, value] : names) {
        macros.insert(name.substr(0, name.find_first_of("abcdefghijklmnopqrstuvwxyz") - 1));
    }
    int compared = 0;
    for (const SourcePart& part : source_parts()) {
        const std::string text(part.text);
        const std::regex by_name("NT_IS\\((\\w+), (\\w+)\\)");
        for (std::sregex_iterator it(text.begin(), text.end(), by_name); it != std::sregex_iterator(); ++it, ++compared) {
            EXPECT_TRUE(names.contains("NT_" + (*it)[1].str() + "_" + (*it)[2].str())) << part.path << ": " << it->str();
        }
        const std::regex by_number("(NT_[A-Z_]+) *(==|!=|<|>|<=|>=) *[0-9]");
        for (std::sregex_iterator it(text.begin(), text.end(), by_number); it != std::sregex_iterator(); ++it) {
            EXPECT_FALSE(macros.contains((*it)[1])) << part.path << ": " << it->str();
        }
    }
    EXPECT_GT(compared, 50);
}

}  // namespace
}  // namespace normtune::gpu
