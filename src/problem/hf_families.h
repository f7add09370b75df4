// Which RMSNorms a model has, by the model_type of its Hugging Face configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "problem/shapes_file.h"

namespace normtune {

/// How queries and keys are normalised.
enum class QkNorm {
    none,
    per_head,    // head_dim columns, a row for each head
    whole,       // all heads of a token are one row
    weightless,  // per head, without gamma
};

/// What a model_type tells of its norms beyond the numbers of its configuration file.
struct NormFamily {
    std::string_view model_type;
    QkNorm qk_norm = QkNorm::none;
    std::optional<bool> use_qk_norm = std::nullopt;  // whether the key use_qk_norm rules, and what holds where it is absent
    int offset = 0;
    Casting casting = Casting::llama;
    WeightType weight_type = WeightType::same;
    bool latent = false;        // attention over compressed keys and values, and queries unless q_lora_rank is null
    std::int64_t head_dim = 0;  // class defaults, which configuration files leave out; 0: none
    std::int64_t heads = 0;
    std::int64_t key_value_heads = 0;
};

/// Read from the models' code in Hugging Face transformers (src/transformers/models/<type>/modeling_<type>.py).
std::span<const NormFamily> norm_families();

/// Is this a model_type whose hidden norm is a LayerNorm? (Some of them carry the key rms_norm_eps all the same.)
bool normalises_with_layer_norm(std::string_view model_type);

}  // namespace normtune
