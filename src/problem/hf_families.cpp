#include "problem/hf_families.h"

#include <algorithm>
#include <array>
#include <vector>

namespace normtune {
namespace {

NormFamily llama_like(std::string_view type) {
    return {.model_type = type};
}
NormFamily with_qk_norm(std::string_view type, QkNorm norm, std::int64_t head_dim = 0) {
    return {.model_type = type, .qk_norm = norm, .head_dim = head_dim};
}
NormFamily gemma_like(std::string_view type) {
    return {.model_type = type, .offset = 1, .casting = Casting::gemma};
}
NormFamily gemma3_like(std::string_view type) {
    return {.model_type = type,
            .qk_norm = QkNorm::per_head,
            .offset = 1,
            .casting = Casting::gemma,
            .head_dim = 256,
            .heads = 8,
            .key_value_heads = 4};
}
NormFamily llama4_like(std::string_view type) {
    return {.model_type = type, .qk_norm = QkNorm::weightless, .use_qk_norm = true, .head_dim = 128};
}

constexpr std::array<std::string_view, 22> layer_norm_types{
    "albert", "bert",     "bloom", "cohere",   "cohere2", "dbrx", "distilbert", "electra", "falcon",  "gpt2",     "gpt_neo",
    "gptj",   "gpt_neox", "mpt",   "nemotron", "olmo",    "opt",  "phi",        "phimoe",  "roberta", "stablelm", "starcoder2"};

}  // namespace

std::span<const NormFamily> norm_families() {
    static const std::vector<NormFamily> all{
        llama_like("llama"),
        llama_like("mistral"),
        llama_like("mixtral"),
        llama_like("qwen2"),
        llama_like("qwen2_moe"),
        llama_like("phi3"),
        {.model_type = "deepseek_v2", .latent = true},
        {.model_type = "deepseek_v3", .latent = true},
        with_qk_norm("qwen3", QkNorm::per_head, 128),
        with_qk_norm("qwen3_moe", QkNorm::per_head),
        with_qk_norm("qwen3_vl_text", QkNorm::per_head, 128),
        with_qk_norm("qwen3_vl_moe_text", QkNorm::per_head),
        with_qk_norm("exaone4", QkNorm::per_head),
        {.model_type = "glm4_moe", .qk_norm = QkNorm::per_head, .use_qk_norm = false},
        {.model_type = "qwen3_next", .qk_norm = QkNorm::per_head, .offset = 1, .casting = Casting::gemma, .head_dim = 256},
        with_qk_norm("olmo2", QkNorm::whole),
        with_qk_norm("olmo3", QkNorm::whole),
        with_qk_norm("olmoe", QkNorm::whole),
        gemma_like("gemma"),
        gemma_like("gemma2"),
        gemma3_like("gemma3"),
        gemma3_like("gemma3_text"),
        llama4_like("llama4"),
        llama4_like("llama4_text"),
        {.model_type = "gpt_oss", .casting = Casting::gemma, .weight_type = WeightType::fp32},
    };
    return all;
}

bool normalises_with_layer_norm(std::string_view model_type) {
    return std::find(layer_norm_types.begin(), layer_norm_types.end(), model_type) != layer_norm_types.end();
}

}  // namespace normtune
