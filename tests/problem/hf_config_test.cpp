#include <string>

#include <gtest/gtest.h>

#include "problem/hf_config.h"
#include "problem/selection.h"
#include "support/error.h"

namespace normtune {
namespace {

ShapesFile from(const std::string& model) {
    return shapes_from_hf(std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/hf/" + model + "/config.json", {});
}

const Site* find(const ShapesFile& shapes, const std::string& name) {
    for (const Site& site : shapes.models.at(0).sites) {
        if (site.site == name) {
            return &site;
        }
    }
    return nullptr;
}

std::vector<Site> sites_of(const std::string& json) {
    return parse_hf_config(json, "c.json", "m", {}).models.at(0).sites;
}

std::string refusal(const std::string& json) {
    try {
        parse_hf_config(json, "config.json", "m", {});
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        return error.what();
    }
    return "accepted";
}

TEST(HfConfig, Qwen3IsAsShipped) {
    const ShapesFile shapes = from("Qwen3-8B");
    EXPECT_EQ(shapes.name, "Qwen3-8B");
    EXPECT_EQ(shapes.tokens, (std::vector<std::int64_t>{1, 128, 8192}));
    EXPECT_EQ(shapes.dtypes, std::vector{Dtype::bf16});
    EXPECT_EQ(shapes.castings, std::vector{Casting::llama});
    const ShapesFile shipped = load_shapes("qwen3");
    EXPECT_EQ(shapes.models.at(0), shipped.models.at(3));
    EXPECT_EQ(shapes.ops, shipped.ops);
    EXPECT_EQ(shapes.modes, shipped.modes);
}

TEST(HfConfig, LlamaHasOneSiteAndItsOwnNameTypeAndEps) {
    const ShapesFile shapes = from("Llama-2-7b");
    EXPECT_EQ(shapes.models, (std::vector<Model>{{"Llama-2-7b-hf", 1e-5, {}, {{"hidden", 4096, 1, 0, 0, true, {}}}}}));
    EXPECT_EQ(shapes.dtypes, std::vector{Dtype::fp16});
}

TEST(HfConfig, Gemma3ReadsTheTextModelAndKnowsItsDefaults) {
    const ShapesFile shapes = from("gemma-3-4b-it");
    EXPECT_EQ(shapes.castings, std::vector{Casting::gemma});
    EXPECT_EQ(shapes.models.at(0).eps, 1e-6);
    EXPECT_EQ(shapes.models.at(0).sites, load_shapes("gemma3").models.at(1).sites);
}

TEST(HfConfig, DeepSeekHasLatentNormsOnASlice) {
    EXPECT_EQ(from("DeepSeek-V3").models, load_shapes("deepseek_v3").models);
    EXPECT_EQ(sites_of(R"({"model_type": "deepseek_v2", "hidden_size": 2048, "q_lora_rank": null, "kv_lora_rank": 512,
                           "qk_rope_head_dim": 64})"),
              (std::vector<Site>{{"hidden", 2048, 1, 0, 0, true, {}}, {"kv_a", 512, 1, 576, 0, true, {}}}));
}

TEST(HfConfig, GptOssKeepsItsWeightsInFp32) {
    const ShapesFile shapes = from("gpt-oss-20b");
    EXPECT_EQ(shapes.models.at(0), load_shapes("gpt_oss").models.at(0));
    EXPECT_EQ(shapes.castings, std::vector{Casting::gemma});
    EXPECT_EQ(select_problems({shapes}, {}).at(0).operation.weight_dtype, Dtype::fp32);
}

TEST(HfConfig, Llama4NormsHeadsWithoutAWeightWhereItSaysSo) {
    const ShapesFile scout = from("Llama-4-Scout-17B-16E");
    EXPECT_EQ(scout.models.at(0).sites, load_shapes("llama4").models.at(0).sites);
    EXPECT_EQ(scout.dtypes, std::vector{Dtype::bf16});
    EXPECT_EQ(sites_of(R"({"model_type": "llama4_text", "hidden_size": 5120, "use_qk_norm": false})").size(), 1u);
}

TEST(HfConfig, Olmo2NormsAllHeadsAsOneRow) {
    const ShapesFile shapes = from("OLMo-2-1124-7B");
    EXPECT_EQ(*find(shapes, "q_norm"), (Site{"q_norm", 4096, 1, 0, 0, true, WeightType::same}));
    EXPECT_EQ(*find(shapes, "k_norm"), (Site{"k_norm", 4096, 1, 0, 0, true, WeightType::same}));
    EXPECT_EQ(shapes.dtypes, std::vector{Dtype::fp32});
}

TEST(HfConfig, DerivesWhatTheFileLeavesOut) {
    EXPECT_EQ(
        sites_of(R"({"model_type": "qwen3_moe", "hidden_size": 2048, "num_attention_heads": 32})"),
        (std::vector<Site>{{"hidden", 2048, 1, 0, 0, true, {}}, {"q_norm", 64, 32, 0, 0, true, {}}, {"k_norm", 64, 32, 0, 0, true, {}}}));
    EXPECT_EQ(sites_of(R"({"model_type": "glm4_moe", "hidden_size": 64, "num_attention_heads": 4})").size(), 1u);
    EXPECT_EQ(sites_of(R"({"model_type": "newer", "hidden_size": 64, "rms_norm_eps": 1e-5})").size(), 1u);
    EXPECT_EQ(parse_hf_config(R"({"model_type": "llama", "hidden_size": 64})", "c.json", "", {7}).tokens, std::vector<std::int64_t>{7});
}

TEST(HfConfig, TakesANameThatShapesFilesCanCarry) {
    const auto name = [](const std::string& given, const std::string& folder) {
        return parse_hf_config("{\"model_type\": \"llama\", \"hidden_size\": 8, \"_name_or_path\": \"" + given + "\"}", "c.json", folder,
                               {})
            .name;
    };
    EXPECT_EQ(name("Qwen/Qwen3-8B", "x"), "Qwen3-8B");
    EXPECT_EQ(name("/data/My Model; v2/", "x"), "My-Model--v2");
    EXPECT_EQ(name("", "Folder"), "Folder");
    EXPECT_EQ(name("", ""), "model");
    EXPECT_EQ(name("***", "x"), "model");
    EXPECT_TRUE(is_model_name(name(std::string(500, 'a'), "")));
}

TEST(HfConfig, ItsShapesReadBackAsTheyWere) {
    for (const std::string model :
         {"Qwen3-8B", "Llama-2-7b", "gemma-3-4b-it", "DeepSeek-V3", "gpt-oss-20b", "Llama-4-Scout-17B-16E", "OLMo-2-1124-7B"}) {
        const ShapesFile shapes = from(model);
        const ShapesFile back = parse_shapes(shapes_to_yaml(shapes), "back.yaml");
        EXPECT_EQ(back.name, shapes.name);
        EXPECT_EQ(back.models, shapes.models) << model;
        EXPECT_EQ(back.tokens, shapes.tokens);
        EXPECT_EQ(back.dtypes, shapes.dtypes);
        EXPECT_EQ(back.ops, shapes.ops);
        EXPECT_EQ(back.modes, shapes.modes);
        EXPECT_EQ(back.castings, shapes.castings);
    }
}

TEST(HfConfig, TakesTheTypeByBothItsKeysAndNames) {
    const auto dtype_of = [](const std::string& member) {
        return parse_hf_config(R"({"model_type": "llama", "hidden_size": 64)" + member + "}", "c.json", "m", {}).dtypes.at(0);
    };
    EXPECT_EQ(dtype_of(""), Dtype::bf16);
    EXPECT_EQ(dtype_of(R"(, "torch_dtype": null)"), Dtype::bf16);
    for (const std::string key : {"dtype", "torch_dtype"}) {
        for (const std::string prefix : {"", "torch."}) {
            EXPECT_EQ(dtype_of(", \"" + key + "\": \"" + prefix + "float16\""), Dtype::fp16) << key << prefix;
            EXPECT_EQ(dtype_of(", \"" + key + "\": \"" + prefix + "float32\""), Dtype::fp32) << key << prefix;
        }
    }
    EXPECT_EQ(refusal(R"({"model_type": "llama", "hidden_size": 64, "torch_dtype": "float8_e4m3fn"})"),
              "config.json: torch_dtype: unknown type 'float8_e4m3fn'; known: float32, bfloat16, float16");
    EXPECT_EQ(
        refusal(
            R"({"model_type": "x", "hidden_size": 64, "dtype": "torch.half", "text_config": {"model_type": "llama", "hidden_size": 64}})"),
        "config.json: dtype: unknown type 'torch.half'; known: float32, bfloat16, float16");
}

TEST(HfConfig, SaysWhatALatentModelLacks) {
    const auto said = [](const std::string& ranks) {
        return refusal(R"({"model_type": "deepseek_v3", "hidden_size": 64, "qk_rope_head_dim": 64)" + ranks + "}");
    };
    EXPECT_EQ(said(R"(, "q_lora_rank": null, "kv_lora_rank": 512)"), "accepted");
    for (const std::string ranks : {R"(, "q_lora_rank": 64)", R"(, "q_lora_rank": 64, "kv_lora_rank": null)"}) {
        EXPECT_EQ(
            said(ranks),
            "config.json: the key 'kv_lora_rank' is missing: model_type 'deepseek_v3' normalises compressed keys and values of that rank");
    }
    EXPECT_EQ(said(R"(, "kv_lora_rank": 512)"),
              "config.json: the key 'q_lora_rank' is missing: model_type 'deepseek_v3' normalises compressed queries of that rank; "
              "null says that it has none");
}

TEST(HfConfig, SaysWhatItAssumesOfAFamilyThatIsNotKnown) {
    std::string assumed;
    const auto of = [&](const std::string& type) {
        assumed.clear();
        parse_hf_config("{" + type + R"("hidden_size": 64, "rms_norm_eps": 1e-6})", "c.json", "m", {}, &assumed);
        return assumed;
    };
    EXPECT_EQ(of(R"("model_type": "llama", )"), "");
    EXPECT_EQ(of(R"("model_type": "nonsense", )").rfind("c.json: the norms of model_type 'nonsense' are not known; taken as Llama's", 0),
              0U)
        << assumed;
    EXPECT_EQ(of("").rfind("c.json: there is no 'model_type'; taken as Llama's", 0), 0U) << assumed;
}

TEST(HfConfig, RefusesModelsWithoutRmsNorm) {
    EXPECT_THROW(from("gpt2"), InputError);
    EXPECT_EQ(refusal(R"({"model_type": "gpt2", "n_embd": 768})"),
              "config.json: model_type 'gpt2' normalises with LayerNorm; it has no RMSNorm to tune");
    EXPECT_EQ(refusal(R"({"model_type": "phimoe", "hidden_size": 4096, "rms_norm_eps": 1e-5})"),
              "config.json: model_type 'phimoe' normalises with LayerNorm; it has no RMSNorm to tune");
    EXPECT_EQ(refusal(R"({"model_type": "newer", "hidden_size": 64})"),
              "config.json: no RMSNorm is known of model_type 'newer', and there is no 'rms_norm_eps'");
    EXPECT_EQ(refusal(R"({"model_type": "newer", "hidden_size": 64, "rms_norm_eps": 1e-5, "use_qk_norm": true})"),
              "config.json: model_type 'newer' has use_qk_norm, and how it normalises q and k is not known; write its "
              "sites into a shapes file by hand");
}

TEST(HfConfig, RefusesWhatIsNotAModelConfiguration) {
    const std::string llama = "{\"model_type\": \"llama\", \"hidden_size\": ";
    EXPECT_EQ(refusal("{\"model_type\": \"llama\"}"), "config.json: the key 'hidden_size' is missing");
    EXPECT_EQ(refusal(llama + "\"4096\"}"), "config.json: hidden_size: expected a whole number, got the text '4096'");
    EXPECT_EQ(refusal(llama + "0}"), "config.json: hidden_size: 0 is out of range; 1 to 16777216");
    EXPECT_EQ(refusal(llama + "-4096}"), "config.json: hidden_size: -4096 is out of range; 1 to 16777216");
    EXPECT_EQ(refusal(llama + "99999999999}"), "config.json: hidden_size: 99999999999 is out of range; 1 to 16777216");
    EXPECT_EQ(refusal(llama + "18446744073709551615}"), "config.json: hidden_size: 18446744073709551615 is out of range; 1 to 16777216");
    EXPECT_EQ(refusal(llama + "4096.5}"), "config.json: hidden_size: expected a whole number, got the number '4096.5'");
    EXPECT_EQ(refusal(llama + "64, \"rms_norm_eps\": 0}"), "config.json: rms_norm_eps: 0 is out of range; 1e-12 to 1");
    EXPECT_EQ(refusal(llama + "64, \"rms_norm_eps\": -1e-6}"), "config.json: rms_norm_eps: -1e-06 is out of range; 1e-12 to 1");
    EXPECT_EQ(refusal(llama + "64, \"kv_lora_rank\": 512}"), "config.json: the key 'qk_rope_head_dim' is missing");
    EXPECT_EQ(refusal(R"({"model_type": "qwen3_moe", "hidden_size": 100, "num_attention_heads": 3})"),
              "config.json: 'head_dim' is missing, and hidden_size 100 is no multiple of num_attention_heads 3");
    EXPECT_EQ(refusal(R"({"model_type": "olmo2", "hidden_size": 64, "num_attention_heads": 65536, "head_dim": 65536})"),
              "config.json: q_norm has 4294967296 columns; at most 16777216 are allowed");
    EXPECT_EQ(refusal(R"({"model_type": 7, "hidden_size": 64})"), "config.json: model_type: expected text, got the number '7'");
    EXPECT_EQ(refusal(R"({"model_type": "llama", "text_config": [1]})"), "config.json: text_config: expected an object, got an array");
    for (const std::string& bad :
         {std::string(), std::string("{"), std::string("[1]"), std::string("7"), std::string("\0\x7f", 2), std::string("{\"a\": NaN}"),
          std::string("{\"a\": \"\xff\"}"), std::string(100000, '['), std::string("null")}) {
        EXPECT_EQ(refusal(bad).substr(0, 12), "config.json:") << bad.substr(0, 20);
    }
    EXPECT_THROW(shapes_from_hf("no/such/config.json", {}), InputError);
    EXPECT_THROW(shapes_from_hf("/", {}), InputError);
}

}  // namespace
}  // namespace normtune
