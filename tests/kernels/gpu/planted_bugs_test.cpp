// Bugs planted in the kernels' source, emulated: verification, or the machine itself, tells each.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "kernels/gpu/emulated_device.h"
#include "verify/verifier.h"

namespace normtune {
namespace {

struct Kind {
    const char* problem;
    const char* configuration;
};

const std::map<std::string, Kind>& kinds() {
    constexpr const char* one_warp = "w1.t32.r1.row.registers.masked.";
    static const std::string per_row = std::string(one_warp) + "per_row";
    static const std::string persistent = std::string(one_warp) + "persistent_strided";
    static const std::string atomic = persistent + ".atomic";
    static const std::map<std::string, Kind> all{
        {"forward", {"rms_norm/forward/bf16/llama/9x96", per_row.c_str()}},
        {"fused_forward", {"fused_add_rms_norm/forward/bf16/llama/9x96", per_row.c_str()}},
        {"backward", {"rms_norm/backward/bf16/llama/29x96", persistent.c_str()}},
        {"fused_backward", {"fused_add_rms_norm/backward/bf16/llama/29x96", persistent.c_str()}},
        {"registers", {"rms_norm/backward/bf16/llama/129x96", persistent.c_str()}},
        {"atomic", {"rms_norm/backward/bf16/llama/29x96", atomic.c_str()}},
        {"race", {"rms_norm/forward/bf16/llama/3x128", "w2.t64.r1.row.registers.masked.per_row.v4"}},
        {"inference", {"rms_norm/inference/bf16/llama/9x96", per_row.c_str()}},
        {"fused_inference", {"fused_add_rms_norm/inference/bf16/llama/9x96/in_place", per_row.c_str()}},
    };
    return all;
}

using Edits = std::vector<std::pair<std::string, std::string>>;
struct Bug {
    std::string name;
    std::string on;
    Edits edits;
};

void PrintTo(const Bug& bug, std::ostream* out) {
    *out << bug.name;
}

std::vector<Bug> bugs() {
    std::ifstream file(NORMTUNE_SOURCE_DIR "/tests/data/planted_bugs.json");
    std::vector<Bug> all;
    const nlohmann::json document = nlohmann::json::parse(file);
    for (const nlohmann::json& bug : document.at("bugs")) {
        const std::string on = bug.at("on");
        all.push_back({bug.at("name"), on, bug.at("edits").get<Edits>()});
        if (on.ends_with("forward") && !bug.contains("needs")) {  // a forward that stores no rstd has them too
            all.push_back({"inference_" + all.back().name, on == "forward" ? "inference" : "fused_inference", all.back().edits});
        }
    }
    return all;
}

/// Empty: it passed.
std::string told(const Kind& kind, const Edits& edits) {
    const Problem problem = parse_problem_key(kind.problem);
    testing::EmulationOptions options;
    options.supports = [&](const Shape& shape) { return shape == problem.shape; };
    options.edit = [&](std::string source) {
        for (const auto& [from, to] : edits) {
            const std::size_t at = source.find(from);
            EXPECT_NE(at, std::string::npos) << "the source has changed: " << from;
            EXPECT_EQ(source.find(from, at + 1), std::string::npos) << "more than one place: " << from;
            source = at == std::string::npos ? source : source.replace(at, from.size(), to);
        }
        return source;
    };
    testing::EmulatedDevice device(32, options);
    try {
        return Verifier(device, problem, 7).verify(Configuration::parse(kind.configuration)).reason;
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::launch_failed) << error.what();
        return error.what();
    }
}

TEST(PlantedBugs, AreManyAndTheKernelsWithoutThemAreRight) {
    EXPECT_GE(bugs().size(), 60U);
    for (const auto& [name, kind] : kinds()) {
        EXPECT_EQ(told(kind, {}), "") << name;
    }
}

class PlantedBug : public ::testing::TestWithParam<Bug> {};

TEST_P(PlantedBug, IsTold) {
    EXPECT_NE(told(kinds().at(GetParam().on), GetParam().edits), "");
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBug, ::testing::ValuesIn(bugs()), [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace normtune
