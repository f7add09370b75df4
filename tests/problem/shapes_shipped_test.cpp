// The shipped shape files against the models' published configurations.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "problem/selection.h"
#include "support/shipped.h"

namespace normtune {
namespace {

const Model& model_of(const ShapesFile& shapes, const std::string& name) {
    for (const Model& model : shapes.models) {
        if (model.name == name) {
            return model;
        }
    }
    throw std::out_of_range(name);
}

std::map<std::string, std::int64_t> hidden_sizes(const std::string& file) {
    std::map<std::string, std::int64_t> sizes;
    for (const Model& model : load_shapes(file).models) {
        sizes[model.name] = model.sites.at(0).cols;
        EXPECT_EQ(model.sites.at(0).site, "hidden");
    }
    return sizes;
}

using Sizes = std::map<std::string, std::int64_t>;

TEST(ShippedShapes, AllLoadAndSelect) {
    std::set<std::string> names;
    for (const ShippedFile& file : shipped_files()) {
        if (file.path.starts_with("shapes/")) {
            const ShapesFile shapes = parse_shapes(file.text, std::string(file.path));
            EXPECT_EQ("shapes/" + shapes.name + ".yaml", file.path);
            EXPECT_FALSE(select_problems({shapes}, {}).empty());
            names.insert(shapes.name);
        }
    }
    EXPECT_EQ(names, (std::set<std::string>{"deepseek_v3", "gemma2", "gemma3", "gpt_oss", "liger", "llama2", "llama3", "llama4", "mistral",
                                            "peers", "phi", "qwen3", "transformer_engine"}));
}

TEST(ShippedShapes, HiddenSizesOfTheModels) {
    EXPECT_EQ(hidden_sizes("qwen3"), (Sizes{{"Qwen3-0.6B", 1024},
                                            {"Qwen3-1.7B", 2048},
                                            {"Qwen3-4B", 2560},
                                            {"Qwen3-8B", 4096},
                                            {"Qwen3-14B", 5120},
                                            {"Qwen3-32B", 5120},
                                            {"Qwen3-30B-A3B", 2048},
                                            {"Qwen3-235B-A22B", 4096}}));
    EXPECT_EQ(hidden_sizes("llama2"), (Sizes{{"Llama-2-7B", 4096}, {"Llama-2-13B", 5120}, {"Llama-2-70B", 8192}}));
    EXPECT_EQ(
        hidden_sizes("llama3"),
        (Sizes{
            {"Llama-3.2-1B", 2048}, {"Llama-3.2-3B", 3072}, {"Llama-3.1-8B", 4096}, {"Llama-3.1-70B", 8192}, {"Llama-3.1-405B", 16384}}));
    EXPECT_EQ(hidden_sizes("gemma2"), (Sizes{{"Gemma-2-2B", 2304}, {"Gemma-2-9B", 3584}, {"Gemma-2-27B", 4608}}));
    EXPECT_EQ(hidden_sizes("mistral"),
              (Sizes{{"Mistral-7B", 4096}, {"Mistral-Large", 12288}, {"Mixtral-8x7B", 4096}, {"Mixtral-8x22B", 6144}}));
    EXPECT_EQ(hidden_sizes("phi"), (Sizes{{"Phi-3-mini", 3072}, {"Phi-4", 5120}, {"Phi-4-mini", 3072}}));
}

TEST(ShippedShapes, Qwen3NormsItsHeads) {
    const Model model = model_of(load_shapes("qwen3"), "Qwen3-235B-A22B");
    EXPECT_EQ(model.eps, 1e-6);
    EXPECT_EQ(model.sites.at(1), (Site{"q_norm", 128, 64, 0, 0, true, WeightType::same}));
    EXPECT_EQ(model.sites.at(2), (Site{"k_norm", 128, 4, 0, 0, true, WeightType::same}));
}

TEST(ShippedShapes, Llama4NormsHeadsWithoutAWeightInScoutAlone) {
    const ShapesFile shapes = load_shapes("llama4");
    const Model scout = model_of(shapes, "Llama-4-Scout");
    EXPECT_EQ(scout.eps, 1e-5);
    EXPECT_EQ(scout.sites.at(1), (Site{"q_norm", 128, 40, 0, 0, false, WeightType::same}));
    EXPECT_EQ(scout.sites.at(2), (Site{"k_norm", 128, 8, 0, 0, false, WeightType::same}));
    EXPECT_EQ(model_of(shapes, "Llama-4-Maverick").sites.size(), 1u);
}

TEST(ShippedShapes, GemmaStoresGammaLessOneAndRoundsOnce) {
    for (const std::string file : {"gemma2", "gemma3"}) {
        const ShapesFile shapes = load_shapes(file);
        EXPECT_EQ(shapes.castings, std::vector{Casting::gemma});
        ASSERT_FALSE(shapes.models.empty()) << file;
        for (const Model& model : shapes.models) {
            EXPECT_FALSE(model.sites.empty()) << model.name;
            for (const Site& site : model.sites) {
                EXPECT_EQ(site.offset, 1) << model.name << site.site;
            }
        }
    }
    const Model big = model_of(load_shapes("gemma3"), "Gemma-3-27B");
    EXPECT_EQ(big.sites.at(1), (Site{"q_norm", 128, 32, 0, 1, true, WeightType::same}));
    const Model small = model_of(load_shapes("gemma3"), "Gemma-3-1B");
    EXPECT_EQ(small.sites.at(2), (Site{"k_norm", 256, 1, 0, 1, true, WeightType::same}));
}

TEST(ShippedShapes, DeepSeekReadsASliceOfAWiderProjection) {
    const Model model = load_shapes("deepseek_v3").models.at(0);
    EXPECT_EQ(model.sites.at(0).cols, 7168);
    EXPECT_EQ(model.sites.at(1), (Site{"q_a", 1536, 1, 0, 0, true, WeightType::same}));
    EXPECT_EQ(model.sites.at(2), (Site{"kv_a", 512, 1, 576, 0, true, WeightType::same}));
}

TEST(ShippedShapes, GptOssHasFp32WeightsAndBf16Rows) {
    const std::vector<Problem> problems = select_problems({load_shapes("gpt_oss")}, {});
    ASSERT_FALSE(problems.empty());
    for (const Problem& problem : problems) {
        EXPECT_EQ(problem.shape.cols, 2880);
        EXPECT_EQ(problem.operation.dtype, Dtype::bf16);
        EXPECT_EQ(problem.operation.weight_dtype, Dtype::fp32);
        EXPECT_EQ(problem.operation.casting, Casting::gemma);
        EXPECT_EQ(problem.uses.size(), 2u);  // 20b and 120b are of one width
    }
}

std::set<std::pair<std::int64_t, std::int64_t>> shapes_of(const std::string& file) {
    std::set<std::pair<std::int64_t, std::int64_t>> shapes;
    for (const Problem& problem : select_problems({load_shapes(file)}, {})) {
        shapes.emplace(problem.shape.rows, problem.shape.cols);
    }
    return shapes;
}

TEST(ShippedShapes, BenchmarksOfOtherProjects) {
    std::set<std::pair<std::int64_t, std::int64_t>> liger;
    for (const std::int64_t cols : {1024, 2048, 4096, 8192, 16384, 32768}) {
        liger.emplace(2048, cols);
        if (cols >= 4096) {
            liger.emplace(4096, cols);
        }
    }
    EXPECT_EQ(shapes_of("liger"), liger);
    std::set<std::pair<std::int64_t, std::int64_t>> te{{173, 409}, {71, 3571}, {29, 17389}};
    for (const std::int64_t rows : {1024, 2048, 4096, 8192}) {
        for (const std::int64_t cols : {3584, 4096, 8192, 16384}) {
            te.emplace(rows, cols);
        }
    }
    EXPECT_EQ(shapes_of("transformer_engine"), te);
}

}  // namespace
}  // namespace normtune
