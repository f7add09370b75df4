#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <gtest/gtest.h>

#include "problem/selection.h"
#include "support/error.h"

namespace normtune {
namespace {

const char* const two_models =
    "name: x\n"
    "models:\n"
    "  - {name: Big-8B, eps: 1e-5, sites: [{site: hidden, cols: 4096}, {site: q_norm, cols: 128, rows_per_token: "
    "32}]}\n"
    "  - {name: Small-1B, eps: 1e-6, sites: [{site: hidden, cols: 4096}, {site: kv_a, cols: 512, row_stride: 576}]}\n"
    "tokens: [1, 8]\n"
    "ops: [rms_norm, fused_add_rms_norm]\n";

std::vector<Problem> select(const Selection& selection) {
    return select_problems({parse_shapes(two_models, "x.yaml")}, selection);
}

std::vector<std::string> keys(const Selection& selection) {
    std::vector<std::string> list;
    for (const Problem& problem : select(selection)) {
        list.push_back(problem.key());
    }
    return list;
}

std::string refusal(const Selection& selection) {
    try {
        select(selection);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Selection, TakesEverythingInFileOrderEachPieceOfWorkOnce) {
    EXPECT_EQ(keys({}),
              (std::vector<std::string>{"rms_norm/forward/bf16/llama/1x4096", "fused_add_rms_norm/forward/bf16/llama/1x4096",
                                        "rms_norm/forward/bf16/llama/8x4096", "fused_add_rms_norm/forward/bf16/llama/8x4096",
                                        "rms_norm/forward/bf16/llama/32x128", "rms_norm/forward/bf16/llama/256x128",
                                        "rms_norm/forward/bf16/llama/1x512/stride576", "rms_norm/forward/bf16/llama/8x512/stride576"}));
}

TEST(Selection, NamesAllUsesOfASharedShapeAndKeepsTheFirstEps) {
    const Problem shared = select({}).at(2);
    EXPECT_EQ(shared.uses, (std::vector<Use>{{"Big-8B", "hidden", 8}, {"Small-1B", "hidden", 8}}));
    EXPECT_EQ(joined_models(shared.uses), "Big-8B;Small-1B");
    EXPECT_EQ(joined_sites(shared.uses), "hidden");
    EXPECT_EQ(shared.operation.eps, 1e-5);
    const ShapesFile file = parse_shapes(two_models, "x.yaml");
    EXPECT_EQ(select_problems({file, file}, {}).at(2).uses, shared.uses);  // the same file twice adds nothing
}

TEST(Selection, NarrowsByModelAndSiteWithoutCaseAndWithWildcards) {
    Selection selection;
    selection.models = {"small*"};
    selection.sites = {"KV_?"};
    EXPECT_EQ(keys(selection),
              (std::vector<std::string>{"rms_norm/forward/bf16/llama/1x512/stride576", "rms_norm/forward/bf16/llama/8x512/stride576"}));
    selection.models = {"*-8b", "SMALL-1B"};
    selection.sites = {"*norm*", "kv_a"};
    EXPECT_EQ(select(selection).size(), 4u);
    selection.models = {"*a*l*1*b"};
    selection.sites.clear();
    EXPECT_EQ(select(selection).size(), 6u);
}

TEST(Selection, ListsReplaceWhatTheFileSays) {
    Selection selection;
    selection.sites = {"hidden"};
    selection.tokens = {32};
    selection.dtypes = {Dtype::fp32, Dtype::fp16};
    selection.ops = {Op::rms_norm};
    selection.modes = {Mode::full};
    selection.castings = {Casting::gemma};
    EXPECT_EQ(keys(selection), (std::vector<std::string>{"rms_norm/full/fp32/gemma/32x4096", "rms_norm/full/fp16/gemma/32x4096"}));
}

TEST(Selection, OptionsReachTheOperationsTheyAreFor) {
    Selection selection;
    selection.sites = {"hidden"};
    selection.tokens = {8};
    selection.modes = {Mode::forward, Mode::backward};
    selection.in_place = true;
    selection.residual = ResidualPrecision::fp32;
    selection.weight_type = WeightType::fp32;
    EXPECT_EQ(keys(selection),
              (std::vector<std::string>{"rms_norm/forward/bf16/llama/8x4096/w_fp32", "rms_norm/backward/bf16/llama/8x4096/w_fp32/in_place",
                                        "fused_add_rms_norm/forward/bf16/llama/8x4096/w_fp32/residual_fp32",
                                        "fused_add_rms_norm/backward/bf16/llama/8x4096/w_fp32/in_place/residual_fp32"}));
}

TEST(Selection, FileWeightsHoldUnlessTheSelectionSaysOtherwise) {
    const ShapesFile file = parse_shapes(
        "name: x\nmodels: [{name: A, sites: [{site: hidden, cols: 8, weight_dtype: fp32},"
        " {site: q_norm, cols: 4, affine: false}]}]\ntokens: [1]\ndtypes: [bf16, fp32]\n",
        "x.yaml");
    const auto weights = [&](const Selection& selection) {
        std::string text;
        for (const Problem& problem : select_problems({file}, selection)) {
            text += std::string(dtype_names.name(problem.operation.weight_dtype)) + " ";
        }
        return text;
    };
    EXPECT_EQ(weights({}), "fp32 fp32 bf16 fp32 ");  // a weightless site follows the tensor's type
    Selection same;
    same.weight_type = WeightType::same;
    EXPECT_EQ(weights(same), "bf16 fp32 bf16 fp32 ");
}

TEST(Selection, Fp32WeightsAreForAGammaBesideANarrowerX) {
    const std::string refused = "--weight-dtype fp32: for a gamma beside bf16 or fp16, and nothing that is selected has one";
    Selection selection;
    selection.weight_type = WeightType::fp32;
    selection.dtypes = {Dtype::fp32};
    EXPECT_EQ(refusal(selection), refused);
    selection.dtypes = {Dtype::fp32, Dtype::fp16};
    EXPECT_EQ(refusal(selection), "accepted");
    const ShapesFile bare =
        parse_shapes("name: x\nmodels: [{name: A, sites: [{site: q_norm, cols: 4, affine: false}]}]\ntokens: [1]\n", "x.yaml");
    selection.dtypes.clear();
    EXPECT_THROW(select_problems({bare}, selection), InputError);
    selection.weight_type = WeightType::same;
    EXPECT_NO_THROW(select_problems({bare}, selection));
}

TEST(Selection, OnlySitesAfterAResidualAddAreFused) {
    EXPECT_TRUE(occurs_at(Op::fused_add_rms_norm, "hidden"));
    EXPECT_TRUE(occurs_at(Op::fused_add_rms_norm, "h4096"));
    for (const char* site : {"q_norm", "k_norm", "q_a", "kv_a"}) {
        EXPECT_FALSE(occurs_at(Op::fused_add_rms_norm, site));
        std::string other_case(site);
        other_case.front() = static_cast<char>(std::toupper(other_case.front()));
        EXPECT_FALSE(occurs_at(Op::fused_add_rms_norm, other_case));
    }
    Selection selection;
    selection.ops = {Op::fused_add_rms_norm};
    for (const Problem& problem : select(selection)) {
        EXPECT_EQ(problem.uses.at(0).site, "hidden");
    }
    selection.sites = {"q_norm"};
    EXPECT_EQ(refusal(selection),
              "nothing is selected: fused_add_rms_norm has no residual add before it at the sites q_norm, k_norm, q_a, "
              "kv_a");
}

constexpr std::array<TensorSpec, 2> forward_only{{
    {TensorRole::x, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::read, Touch::none},
    {TensorRole::y, ElementType::of_x, Extent::rows, TensorKind::signal, Touch::written, Touch::none},
}};

TEST(Selection, OpsHaveTheModesWhosePassesTouchTheirTensors) {
    const OpDescriptor one_way = described({.name = "one_way", .formula = Formula::rms_norm, .tensors = forward_only});
    EXPECT_TRUE(has_mode(one_way, Mode::forward));
    EXPECT_FALSE(has_mode(one_way, Mode::backward));
    EXPECT_FALSE(has_mode(one_way, Mode::full));
    EXPECT_TRUE(has_mode(one_way, Mode::inference));
    for (const Mode mode : {Mode::forward, Mode::backward, Mode::full, Mode::inference}) {
        EXPECT_TRUE(has_mode(rms_norm_op, mode));
        EXPECT_TRUE(has_mode(fused_add_rms_norm_op, mode));
    }
}

TEST(Selection, RefusesWhatNoFileHas) {
    Selection selection;
    selection.models = {"Bigg-8B"};
    EXPECT_EQ(refusal(selection), "--model: no model matches 'Bigg-8B'; did you mean 'Big-8B'?");
    selection.models = {"Big-8B", "none*"};
    EXPECT_EQ(refusal(selection), "--model: no model matches 'none*'; known: Big-8B, Small-1B");
    selection.models = {"Big-8B"};
    selection.sites = {"kv_a"};  // Small-1B has it
    EXPECT_EQ(refusal(selection), "--site: no site matches 'kv_a'; known: hidden, q_norm");
    selection.models = {""};
    EXPECT_EQ(refusal(selection), "--model: no model matches ''; known: Big-8B, Small-1B");
    EXPECT_THROW(select_problems({}, {}), InputError);
}

TEST(Selection, RefusesSizesOutOfBounds) {
    Selection selection;
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-5}, most_tokens + 1, std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min()}) {
        selection.tokens = {1, bad};
        EXPECT_EQ(refusal(selection), "--tokens: " + std::to_string(bad) + " is not a whole number from 1 to 2147483648");
    }
    const ShapesFile wide = parse_shapes("name: x\nmodels: [{name: A, sites: [{site: hidden, cols: 16777216}]}]\ntokens: [1]\n", "x.yaml");
    selection.tokens = {most_tokens};
    try {
        select_problems({wide}, selection);
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "A hidden at 2147483648 tokens has more than 70368744177664 elements (2^46); ask for fewer tokens");
    }
}

TEST(Selection, RefusesOptionsThatReachNothing) {
    Selection in_place;
    in_place.in_place = true;
    EXPECT_EQ(refusal(in_place),
              "--in-place: for the modes backward and full (dx over dy) and inference (y over x, in contiguous rows), and none of them is "
              "selected");
    Selection residual;
    residual.ops = {Op::rms_norm};
    residual.residual = ResidualPrecision::fp32;
    EXPECT_EQ(refusal(residual), "--residual fp32: for the op fused_add_rms_norm, which is not selected");
}

TEST(Selection, InPlaceIsWhereTheModeHasItAndInInferenceWhereRowsAreContiguous) {
    const ShapesFile file = parse_shapes(
        "name: x\nmodels: [{name: A, sites: [{site: hidden, cols: 512}, {site: q_a, cols: 512, row_stride: 576}]}]\ntokens: [8]\n",
        "x.yaml");
    Selection selection;
    selection.in_place = true;
    selection.modes = {Mode::forward, Mode::backward, Mode::inference};
    selection.ops = {Op::rms_norm};
    std::vector<std::string> keys;
    for (const Problem& problem : select_problems({file}, selection)) {
        keys.push_back(problem.key());
        EXPECT_TRUE(parse_problem_key(keys.back()).same_work(problem)) << keys.back();
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"rms_norm/forward/bf16/llama/8x512", "rms_norm/backward/bf16/llama/8x512/in_place",
                                              "rms_norm/inference/bf16/llama/8x512/in_place", "rms_norm/forward/bf16/llama/8x512/stride576",
                                              "rms_norm/backward/bf16/llama/8x512/stride576/in_place",
                                              "rms_norm/inference/bf16/llama/8x512/stride576"}));
}

TEST(Selection, RefusesMoreProblemsThanAnyoneMeasures) {
    Selection selection;
    selection.dtypes = {Dtype::fp32, Dtype::bf16, Dtype::fp16};
    selection.modes = {Mode::forward, Mode::backward, Mode::full};
    for (std::int64_t tokens = 1; tokens <= 4000; ++tokens) {
        selection.tokens.push_back(tokens);
    }
    EXPECT_NE(refusal(selection).find("more than 100000 problems are selected"), std::string::npos);
}

TEST(Selection, WildcardsDoNotTakeForever) {
    Selection selection;
    std::string pattern;
    for (int i = 0; i < 10000; ++i) {
        pattern += "*a";
    }
    selection.models = {pattern + "b"};
    EXPECT_NE(refusal(selection), "accepted");
}

}  // namespace
}  // namespace normtune
