// Bugs planted in the kernels' source, emulated: verification, or the machine itself, tells each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "kernels/gpu/emulated_device.h"
#include "kernels/gpu/without_sanitizer.h"
#include "problem/elements.h"
#include "support/random.h"
#include "verify/fill.h"
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
    bool no_bug_in_zeros;
    Edits edits;
};

constexpr std::string_view middle_row = "walk.rows / 2";
constexpr std::string_view row_after_it = "walk.rows / 2 + 1";
bool edits_have(const Bug& bug, std::string_view text) {
    return std::ranges::any_of(bug.edits, [&](const auto& edit) { return edit.second.find(text) != std::string::npos; });
}

void PrintTo(const Bug& bug, std::ostream* out) {
    *out << bug.name;
}

nlohmann::json planted() {
    std::ifstream file(NORMTUNE_SOURCE_DIR "/tests/data/planted_bugs.json");
    return nlohmann::json::parse(file);
}

std::vector<Bug> bugs() {
    std::vector<Bug> all;
    const nlohmann::json document = planted();
    for (const nlohmann::json& bug : document.at("bugs")) {
        const std::string on = bug.at("on");
        all.push_back({bug.at("name"), on, bug.value("no_bug_in_zeros", false), bug.at("edits").get<Edits>()});
        if (on.ends_with("forward") && !bug.contains("needs")) {  // a forward that stores no rstd has them too
            all.push_back(all.back());
            all.back().name.insert(0, "inference_");
            all.back().on = on == "forward" ? "inference" : "fused_inference";
        }
    }
    return all;
}

/// Empty: it passed.
std::string told(const Kind& kind, const Edits& edits, std::uint64_t seed = 7) {
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
        return Verifier(device, problem, seed).verify(Configuration::parse(kind.configuration)).reason;
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

TEST(PlantedBugs, OfOneRowAreToldWhateverItHolds) {
    NORMTUNE_NOT_SANITIZED("emulated kernels with bugs");
    for (const Bug& bug : bugs()) {
        if (!edits_have(bug, middle_row)) {
            continue;
        }
        const Kind& kind = kinds().at(bug.on);
        const Problem problem = parse_problem_key(kind.problem);
        const std::string_view planted_in = edits_have(bug, row_after_it) ? row_after_it : middle_row;
        for (const std::int64_t row : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, problem.shape.rows - 1}) {
            if (bug.no_bug_in_zeros && row_kind(problem, row, 7) == RowKind::zeros) {
                continue;
            }
            Edits edits = bug.edits;
            for (auto& [from, to] : edits) {
                for (std::size_t at = to.find(planted_in); at != std::string::npos; at = to.find(planted_in)) {
                    to.replace(at, planted_in.size(), std::to_string(row));
                }
            }
            EXPECT_NE(told(kind, edits), "") << bug.name << " in row " << row;
        }
    }
}

/// x·rstd rounds to x in all of such a row.
TEST(PlantedBugs, AnotherRstdIsToldWhereTheRowsOwnIsNearOne) {
    const Kind& kind = kinds().at("inference");
    const Problem problem = parse_problem_key(kind.problem);
    const auto cols = static_cast<std::size_t>(problem.shape.cols);
    const std::int64_t row = problem.shape.rows / 2;
    const auto distance_from_one = [&](std::uint64_t seed) {
        std::vector<float> x(cols);
        decode(Dtype::bf16, draw_input(problem, tensor_of(problem, TensorRole::x), seed).data(), row * problem.shape.cols, std::span(x));
        double squares = 0;
        for (const float value : x) {
            squares += static_cast<double>(value) * static_cast<double>(value);
        }
        return std::fabs(1 / std::sqrt(squares / static_cast<double>(cols) + problem.operation.eps) - 1);
    };
    std::uint64_t seed = 0;
    while (distance_from_one(seed) > 0x1p-9) {
        ASSERT_LT(++seed, 1000U);
    }
    for (const Bug& bug : bugs()) {
        if (bug.name == "inference_y_middle_row_of_another_rstd") {
            EXPECT_NE(told(kind, bug.edits, seed), "") << "seed " << seed;
            return;
        }
    }
    FAIL();
}

TEST(PlantedBugs, LieInNoRowOfZerosOfTheShapesWhereTheyAreNoneThere) {
    const nlohmann::json document = planted();
    for (const Bug& bug : bugs()) {
        if (bug.no_bug_in_zeros) {
            for (const std::string shape : document.at("shapes")) {
                std::string key = kinds().at(bug.on).problem;
                const Shape own = parse_problem_key(key).shape;
                const std::string own_text = std::to_string(own.rows) + "x" + std::to_string(own.cols);
                key.replace(key.find(own_text), own_text.size(), shape);
                const Problem problem = parse_problem_key(key);
                const std::uint64_t seed = mix_seed(0, "verify/" + key);  // of a run without --seed
                const std::int64_t row = problem.shape.rows / 2 + (edits_have(bug, row_after_it) ? 1 : 0);
                EXPECT_NE(row_kind(problem, row, seed), RowKind::zeros) << bug.name << " at " << shape;
            }
        }
    }
}

class PlantedBug : public testing::WithoutSanitizer<Bug> {};

TEST_P(PlantedBug, IsTold) {
    EXPECT_NE(told(kinds().at(GetParam().on), GetParam().edits), "");
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBug, ::testing::ValuesIn(bugs()), [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace normtune
