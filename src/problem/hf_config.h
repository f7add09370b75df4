// A Hugging Face model configuration as shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/shapes_file.h"

namespace normtune {

/// A Hugging Face model configuration (config.json) as shapes; a nested text_config is the model's. `tokens` empty:
/// 1, 128 and 8192. `assumed`: what was taken for granted of a family that is not known; else left as it is. Throws InputError: not JSON,
/// wrong types, a key that is missing, a model without RMSNorm.
ShapesFile shapes_from_hf(const std::string& json_path, const std::vector<std::int64_t>& tokens, std::string* assumed = nullptr);
/// The same of its text; `file` names it in messages, and the model is `name` where the text has no name.
ShapesFile parse_hf_config(std::string_view json, const std::string& file, const std::string& name, const std::vector<std::int64_t>& tokens,
                           std::string* assumed = nullptr);

}  // namespace normtune
