#include "problem/shapes_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

std::string shapes_refusal(const std::string& path_or_name) {
    try {
        load_shapes(path_or_name);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

/// A new folder that is the present one for as long as the object lives.
class InFolder {
public:
    InFolder() : before_(std::filesystem::current_path()) { std::filesystem::current_path(folder_.path()); }
    ~InFolder() { std::filesystem::current_path(before_); }

private:
    std::filesystem::path before_;
    normtune::testing::TemporaryFolder folder_;
};

TEST(ShapesFile, ReadsEveryKey) {
    const ShapesFile shapes = parse_shapes(
        "name: x\n"
        "eps: 1e-5\n"
        "models:\n"
        "  - name: A\n"
        "    sites:\n"
        "      - {site: hidden, cols: 4096, offset: 1, weight_dtype: fp32}\n"
        "      - {site: q_norm, cols: 128, rows_per_token: 32, affine: false}\n"
        "  - name: org/B-1.5\n"
        "    eps: 1e-6\n"
        "    tokens: [7]\n"
        "    sites:\n"
        "      - {site: kv_a, cols: 512, row_stride: 576, weight_dtype: same}\n"
        "tokens: [1, 128]\n"
        "dtypes: [fp32, bf16]\n"
        "ops: [fused_add_rms_norm]\n"
        "modes: [full, forward]\n"
        "castings: [gemma, none]\n",
        "x.yaml");
    EXPECT_EQ(shapes.name, "x");
    EXPECT_EQ(shapes.file, "x.yaml");
    EXPECT_EQ(shapes.tokens, (std::vector<std::int64_t>{1, 128}));
    EXPECT_EQ(shapes.dtypes, (std::vector{Dtype::fp32, Dtype::bf16}));
    EXPECT_EQ(shapes.ops, std::vector{Op::fused_add_rms_norm});
    EXPECT_EQ(shapes.modes, (std::vector{Mode::full, Mode::forward}));
    EXPECT_EQ(shapes.castings, (std::vector{Casting::gemma, Casting::none}));
    const std::vector<Model> models{
        {"A", 1e-5, {}, {{"hidden", 4096, 1, 0, 1, true, WeightType::fp32}, {"q_norm", 128, 32, 0, 0, false, WeightType::same}}},
        {"org/B-1.5", 1e-6, {7}, {{"kv_a", 512, 1, 576, 0, true, WeightType::same}}}};
    EXPECT_EQ(shapes.models, models);
}

TEST(ShapesFile, DefaultsAreTheLeast) {
    const ShapesFile shapes = parse_shapes("name: x\nmodels: [{name: A, sites: [{site: hidden, cols: 8}]}]\ntokens: [1]\n", "x.yaml");
    EXPECT_EQ(shapes.dtypes, std::vector{Dtype::bf16});
    EXPECT_EQ(shapes.ops, std::vector{Op::rms_norm});
    EXPECT_EQ(shapes.modes, std::vector{Mode::forward});
    EXPECT_EQ(shapes.castings, std::vector{Casting::llama});
    EXPECT_EQ(shapes.models.at(0), (Model{"A", 1e-6, {}, {{"hidden", 8, 1, 0, 0, true, WeightType::same}}}));
}

TEST(ShapesFile, WritesWhatItReads) {
    ShapesFile shapes;
    shapes.name = "null";  // words and numbers of YAML stay text
    shapes.models = {{"true", 1.2345678901234567e-6, {3}, {{"1e5", 8, 2, 16, 1, true, WeightType::fp32}}},
                     {"7", 1, {}, {{"a:b", 1, 1, 0, 0, false, WeightType::same}, {"x+y", 2, 1, 0, 0, true, {}}}}};
    shapes.tokens = {1, 2147483648};
    shapes.dtypes = {Dtype::fp16, Dtype::fp32};
    shapes.ops = {Op::fused_add_rms_norm, Op::rms_norm};
    shapes.modes = {Mode::backward};
    shapes.castings = {Casting::none};
    const ShapesFile back = parse_shapes(shapes_to_yaml(shapes), "back.yaml");
    EXPECT_EQ(back.name, shapes.name);
    EXPECT_EQ(back.models, shapes.models);
    EXPECT_EQ(back.tokens, shapes.tokens);
    EXPECT_EQ(back.dtypes, shapes.dtypes);
    EXPECT_EQ(back.ops, shapes.ops);
    EXPECT_EQ(back.modes, shapes.modes);
    EXPECT_EQ(back.castings, shapes.castings);
}

TEST(ShapesFile, ShippedFilesAreFoundFromAnyFolder) {
    const InFolder folder;
    for (const std::string name : {"qwen3", "qwen3.yaml", "shapes/qwen3.yaml", "configs/shapes/qwen3.yaml"}) {
        EXPECT_EQ(load_shapes(name).name, "qwen3") << name;
        EXPECT_EQ(load_shapes(name).file, "shapes/qwen3.yaml");
    }
}

TEST(ShapesFile, AnExistingFileWinsOverAShippedOne) {
    const InFolder folder;
    std::ofstream("qwen3.yaml") << "name: mine\nmodels: [{name: A, sites: [{site: hidden, cols: 8}]}]\ntokens: [1]\n";
    EXPECT_EQ(load_shapes("qwen3.yaml").name, "mine");
    EXPECT_EQ(load_shapes("qwen3.yaml").file, "qwen3.yaml");
    EXPECT_EQ(load_shapes("qwen3").name, "qwen3");
    std::filesystem::create_directory("gemma3");  // a results folder of that name hides nothing
    EXPECT_EQ(load_shapes("gemma3").name, "gemma3");
}

TEST(ShapesFile, AWrongNameIsAnsweredWithTheRightOnes) {
    const InFolder folder;
    EXPECT_EQ(shapes_refusal("qwen33"), "no file 'qwen33', and none of that name among the shipped shapes; did you mean 'qwen3'?");
    EXPECT_EQ(shapes_refusal("mine/qwen3.yaml"),
              "no file 'mine/qwen3.yaml', and none of that name among the shipped shapes; did you mean 'qwen3'?");
    EXPECT_EQ(shapes_refusal("zzz"),
              "no file 'zzz', and none of that name among the shipped shapes; known: deepseek_v3, gemma2, gemma3, "
              "gpt_oss, liger, llama2, llama3, llama4, mistral, peers, phi, qwen3, transformer_engine");
    EXPECT_EQ(shapes_refusal("."), ".: a directory; a YAML file is needed");
    EXPECT_EQ(shapes_refusal(""), "shapes: an empty or impossible file name");
    EXPECT_EQ(shapes_refusal(std::string(100000, 'x')).find('\n'), std::string::npos);
}

TEST(ShapesFile, NamesThatFilesAndResultsCanCarry) {
    for (const std::string good : {"Qwen3-8B", "org/Name_1.5+x:y", "7"}) {
        EXPECT_TRUE(is_model_name(good)) << good;
    }
    for (const std::string bad : {"", "a b", "a;b", "a,b", "a*", "-a", "a\n", "ü", "\"a\""}) {
        EXPECT_FALSE(is_model_name(bad)) << bad;
    }
    EXPECT_FALSE(is_model_name(std::string(101, 'a')));
}

}  // namespace
}  // namespace normtune
