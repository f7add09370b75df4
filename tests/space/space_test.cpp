#include "space/space.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "devices/registry.h"
#include "space/plan.h"
#include "space/study.h"
#include "support/error.h"
#include "support/sanitized.h"
#include "support/shipped.h"

namespace normtune {
namespace {

const std::string bad_folder = std::string(NORMTUNE_SOURCE_DIR) + "/tests/bad_input/spaces/";

TEST(Space, ReadsAxesInTheirOrderWithTheirRules) {
    const SearchSpace space = parse_space(R"(name: mine
axes:
  reduction: [even, masked]
  num_warps: [8, "4"]
  block_size: [row, 512]
  offset_bits: [64, auto]
rules:
  - threads_per_row
  - {name: short, keep: "min(cols, 64) == 64", keep_all_if_none: true}
)",
                                          "mine.yaml");
    EXPECT_EQ(space.name, "mine");
    ASSERT_EQ(space.axes.size(), 4U);
    EXPECT_EQ(space.axes[0].axis, Axis::reduction);
    EXPECT_EQ(space.axes[0].values, (std::vector<int>{static_cast<int>(Reduction::even), static_cast<int>(Reduction::masked)}));
    EXPECT_EQ(space.axes[1].values, (std::vector<int>{8, 4}));
    EXPECT_EQ(space.axes[2].values, (std::vector<int>{whole_row, 512}));
    EXPECT_EQ(space.axes[3].values, (std::vector<int>{static_cast<int>(OffsetBits::_64), static_cast<int>(OffsetBits::auto_)}));
    EXPECT_EQ(space.points(), 16U);
    ASSERT_EQ(space.rules.size(), 2U);
    EXPECT_EQ(space.rules[0].name, "threads_per_row");
    EXPECT_EQ(space.rules[0].keep, default_threads_per_row_rule().keep);
    EXPECT_TRUE(space.rules[0].keep_all_if_none);
    EXPECT_EQ(space.rules[0].line, 8);
    EXPECT_EQ(space.rules[1].name, "short");
    EXPECT_TRUE(space.rules[1].keep_all_if_none);
    EXPECT_EQ(space.rules[1].file, "mine.yaml");
}

TEST(Space, NoRuleHasTheNameOfWhatASweepCountsItself) {
    for (const char* name : {"store", "budget", "interrupted", "random"}) {
        const std::string text = std::string("name: x\naxes:\n  stages: [1, 2]\nrules:\n  - {name: ") + name + ", keep: cols > 4}\n";
        EXPECT_THROW(parse_space(text, "x.yaml"), InputError) << name;
    }
}

TEST(Space, RulesAreOptional) {
    const SearchSpace space = parse_space("name: x\naxes:\n  stages: [1, 2]\n", "x.yaml");
    EXPECT_TRUE(space.rules.empty());
}

TEST(Space, PointsBeyondSixtyFourBitsAreAnError) {
    SearchSpace space{"wide", {}, {}};
    for (int i = 0; i < 9; ++i) {
        space.axes.push_back({static_cast<Axis>(i), std::vector<int>(255, 1)});
    }
    EXPECT_THROW(space.points(), InputError);
    space.axes.pop_back();
    space.axes.back().values.resize(2);
    EXPECT_EQ(space.points(), 2 * 255ULL * 255 * 255 * 255 * 255 * 255 * 255);
}

TEST(Space, BadInputIsRefusedInOneLineThatNamesTheFileAndTheRemedy) {
    std::ifstream expected(bad_folder + "expected.txt");
    std::set<std::string> seen{"expected.txt"};
    std::string name;
    std::string message;
    while (std::getline(expected, name, '\t') && std::getline(expected, message)) {
        seen.insert(name);
        try {
            load_space(bad_folder + name);
            ADD_FAILURE() << name << " is accepted";
        } catch (const InputError& error) {
            const std::string what = error.what();
            EXPECT_NE(what.find(message), std::string::npos) << name << ": " << what << "\nwanted: " << message;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
            EXPECT_NE(what.find(name), std::string::npos) << what;
        }
    }
    EXPECT_GE(seen.size(), 40U);
    for (const auto& entry : std::filesystem::directory_iterator(bad_folder)) {
        EXPECT_TRUE(seen.contains(entry.path().filename().string())) << entry.path() << " is not in expected.txt";
    }
}

TEST(Space, AnUnknownNameSaysWhatThereIs) {
    try {
        load_space("quikc");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'quick'?"), std::string::npos) << error.what();
    }
}

TEST(ShippedSpaces, AreFoundByNameStudiesIncluded) {
    for (const char* name : {"quick", "quick.yaml", "default", "exhaustive", "te_615", "liger_1100.yaml", "liger_1153", "liger_988"}) {
        const SearchSpace space = load_space(name);
        EXPECT_GT(space.points(), 1U);
        EXPECT_EQ(space.name, std::string(name).substr(0, std::string(name).find('.')));
    }
}

TEST(ShippedSpaces, EachHasTheDefaultRule) {
    int spaces = 0;
    for (const ShippedFile& file : shipped_files()) {
        if (file.path.starts_with("shapes/") || file.path.starts_with("gates/")) {
            continue;
        }
        const SearchSpace space = parse_space(file.text, std::string(file.path));
        std::set<std::string> names;
        for (const Rule& rule : space.rules) {
            names.insert(rule.name);
        }
        EXPECT_TRUE(names.contains("threads_per_row")) << file.path;
        ++spaces;
    }
    EXPECT_GE(spaces, 7) << "three spaces and four studies";
}

DeviceInfo device_with(int warp_size) {
    DeviceInfo device;
    const bool gpu = warp_size >= 32;
    device.warp_size = warp_size;
    device.compute_units = gpu ? 132 : 2;
    device.max_threads_per_program = gpu ? 1024 : 32 * warp_size;
    device.shared_bytes_per_program = gpu ? 227 << 10 : 48 << 10;
    return device;
}

constexpr std::int64_t sizes[][2] = {{1, 4096},    {1, 128},     {128, 4096},   {32768, 128}, {8192, 1024}, {8192, 2048},
                                     {8192, 4096}, {8192, 5120}, {4096, 16384}, {71, 3571},   {29, 17389},  {173, 409}};

TEST(ShippedSpaces, LeaveSomethingForEveryShapeAndWarp) {
    if (testing::sanitized) {
        GTEST_SKIP() << "what the spaces hold is the same under a sanitizer, and takes minutes";
    }
    const std::vector<int> warp_sizes{4, 8, 16, 32, 64};
    for (const ShippedFile& file : shipped_files()) {
        if (file.path.starts_with("shapes/") || file.path.starts_with("gates/")) {
            continue;
        }
        const SearchSpace space = parse_space(file.text, std::string(file.path));
        for (const int warp_size : warp_sizes) {
            for (const auto& [rows, cols] : sizes) {
                for (const Mode mode : {Mode::forward, Mode::backward}) {
                    Problem problem;
                    problem.shape = {rows, cols, cols};
                    problem.operation.mode = mode;
                    const ProblemPlan plan = plan_problem(problem, space, {Backend::replay, {}, {}}, device_with(warp_size), false, {});
                    EXPECT_GT(plan.kept, 0U) << file.path << " " << warp_size << " " << problem.key();
                    if (space.name == "quick" && warp_size >= 32) {  // a CPU's own limits: the next test
                        EXPECT_LE(plan.kept, 40U) << warp_size << " " << problem.key();
                    }
                }
            }
        }
    }
}

TEST(ShippedSpaces, QuickIsQuickOnACpuAndLeavesSomethingForEveryOperation) {
    const SearchSpace quick = load_space("quick");
    const BackendTraits cpu = backend_traits(Backend::cpu);
    for (const int warp_size : {4, 8, 16}) {
        for (const auto& [rows, cols] : sizes) {
            for (const Casting casting : {Casting::llama, Casting::gemma, Casting::none}) {
                for (const ResidualPrecision residual : {ResidualPrecision::rounded, ResidualPrecision::fp32}) {
                    Problem problem;
                    problem.shape = {rows, cols, cols};
                    problem.operation.op = Op::fused_add_rms_norm;
                    problem.operation.casting = casting;
                    problem.operation.residual = residual;
                    const ProblemPlan plan = plan_problem(problem, quick, cpu, device_with(warp_size), false, {});
                    EXPECT_GE(plan.kept, 1U) << warp_size << " " << problem.key();
                    EXPECT_LE(plan.kept, 24U) << warp_size << " " << problem.key();
                }
            }
        }
    }
}

TEST(Studies, AskAQuestionOfProblemsThatExist) {
    int studies = 0;
    for (const ShippedFile& file : shipped_files()) {
        if (!file.path.starts_with("studies/")) {
            continue;
        }
        ++studies;
        const Study study = parse_study(file.text, std::string(file.path));
        EXPECT_EQ("studies/" + study.name + ".yaml", file.path);
        EXPECT_EQ(study.question.back(), '?');
        std::vector<ShapesFile> shapes;
        for (const std::string& name : study.shapes) {
            shapes.push_back(load_shapes(name));
        }
        EXPECT_GE(select_problems(shapes, study.select).size(), 4U) << study.name;
    }
    EXPECT_EQ(studies, 4);
}

TEST(Studies, ReadTheirSelection) {
    const Study study = parse_study(R"(name: mine
question: Which one?
shapes: [qwen3, llama3]
select:
  models: ["Qwen3-8*"]
  sites: [hidden]
  tokens: [1, 8192]
  dtypes: [bf16, fp32]
  ops: [fused_add_rms_norm]
  modes: [backward]
  castings: [gemma]
  in_place: true
  residual: fp32
  weight_dtype: fp32
space: quick
)",
                                    "mine.yaml");
    EXPECT_EQ(study.shapes, (std::vector<std::string>{"qwen3", "llama3"}));
    EXPECT_EQ(study.select.models, std::vector<std::string>{"Qwen3-8*"});
    EXPECT_EQ(study.select.sites, std::vector<std::string>{"hidden"});
    EXPECT_EQ(study.select.tokens, (std::vector<std::int64_t>{1, 8192}));
    EXPECT_EQ(study.select.dtypes, (std::vector<Dtype>{Dtype::bf16, Dtype::fp32}));
    EXPECT_EQ(study.select.ops, std::vector<Op>{Op::fused_add_rms_norm});
    EXPECT_EQ(study.select.modes, std::vector<Mode>{Mode::backward});
    EXPECT_EQ(study.select.castings, std::vector<Casting>{Casting::gemma});
    EXPECT_TRUE(study.select.in_place);
    EXPECT_EQ(study.select.residual, ResidualPrecision::fp32);
    EXPECT_EQ(study.select.weight_type, WeightType::fp32);
    EXPECT_EQ(study.space.name, "quick");
}

TEST(Studies, AStudyIsNoSpaceOfAnother) {
    EXPECT_THROW(parse_study("name: x\nquestion: Why?\nshapes: [qwen3]\nspace: " + std::string(NORMTUNE_SOURCE_DIR) +
                                 "/configs/studies/te_615.yaml\n",
                             "x.yaml"),
                 InputError);
}

}  // namespace
}  // namespace normtune
