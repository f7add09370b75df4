// Shape files, the selection of what they hold, and problems made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"

namespace normtune {

/// Bounds on what a file or a selection may ask for; besides, rows · row_stride ≤ largest_elements (problem.h).
inline constexpr std::int64_t most_tokens = std::int64_t{1} << 31;
inline constexpr std::int64_t most_rows_per_token = std::int64_t{1} << 16;
inline constexpr std::int64_t most_cols = std::int64_t{1} << 24;
inline constexpr std::int64_t most_row_stride = std::int64_t{1} << 30;
inline constexpr double least_eps = 1e-12;
inline constexpr double most_eps = 1;

/// Whether gamma has the tensor's type or fp32.
enum class WeightType { same, fp32 };
inline constexpr NameTable<WeightType, 2> weight_type_names{{"same", "fp32"}};

struct Site {
    std::string site;
    std::int64_t cols = 0;
    std::int64_t rows_per_token = 1;
    std::int64_t row_stride = 0;  // 0: cols
    int offset = 0;
    bool affine = true;
    WeightType weight_type = WeightType::same;  // "weight_dtype" in a file
    friend bool operator==(const Site&, const Site&) = default;
};

struct Model {
    std::string name;
    double eps = 1e-6;
    std::vector<std::int64_t> tokens;  // empty: the file's
    std::vector<Site> sites;
    friend bool operator==(const Model&, const Model&) = default;
};

struct ShapesFile {
    std::string name;
    std::vector<Model> models;
    std::vector<std::int64_t> tokens;  // may be empty where each model has its own
    std::vector<Dtype> dtypes{Dtype::bf16};
    std::vector<Op> ops{Op::rms_norm};
    std::vector<Mode> modes{Mode::forward};
    std::vector<Casting> castings{Casting::llama};
    std::string file;  // for messages
};

/// The YAML form; every key but `name`, `models`, `tokens`, `site` and `cols` may be left out (defaults as above):
///   name, eps, models: [{name, eps, tokens, sites: [{site, cols, rows_per_token, row_stride, offset, affine,
///   weight_dtype}]}], tokens, dtypes, ops, modes, castings. rows = tokens · rows_per_token.
/// A name that is no file is looked up among the shipped ones ("qwen3" or "qwen3.yaml").
/// Throws InputError (file, line, what is wrong, what would be right).
ShapesFile load_shapes(const std::string& path_or_name);
ShapesFile parse_shapes(std::string_view yaml, const std::string& file_for_messages);
/// Reads back as the same shapes.
std::string shapes_to_yaml(const ShapesFile& shapes);

/// Narrows what the files say; an empty list leaves that part as the file has it.
struct Selection {
    std::vector<std::string> models;  // names, matched without case; '*' and '?' as in a shell
    std::vector<std::string> sites;   // likewise
    std::vector<std::int64_t> tokens;
    std::vector<Dtype> dtypes;
    std::vector<Op> ops;
    std::vector<Mode> modes;
    std::vector<Casting> castings;
    bool in_place = false;                                    // of backward and full
    ResidualPrecision residual = ResidualPrecision::rounded;  // of the fused op
    std::optional<WeightType> weight_type;                    // empty: as the file says
};

/// Is the site's input the sum of a residual add, so that the fused op makes sense there? Not q_norm, k_norm, q_a,
/// kv_a.
bool follows_residual_add(std::string_view site);

/// The problems of the files under the selection, in file order, each piece of work once with all of its uses (of two
/// models that differ in eps alone, the first one's eps). The fused op is left out where no residual add precedes.
/// Throws InputError: a model or site that no file has (with what there is), sizes out of bounds, or nothing selected.
std::vector<Problem> select_problems(const std::vector<ShapesFile>& files, const Selection& selection);

/// A Hugging Face model configuration (config.json) as shapes; a nested text_config is the model's. `tokens` empty:
/// 1, 128 and 8192. Throws InputError: not JSON, wrong types, a key that is missing, a model without RMSNorm.
ShapesFile shapes_from_hf(const std::string& json_path, const std::vector<std::int64_t>& tokens);
/// The same of its text; `file` names it in messages, and the model is `name` where the text has no name.
ShapesFile parse_hf_config(std::string_view json, const std::string& file, const std::string& name,
                           const std::vector<std::int64_t>& tokens);

/// Is this a name that files and results can carry: letters, digits and . _ - + : /, a letter or digit first, at most
/// 100 bytes. (Results join names with ';', selections use '*', '?' and ','.)
bool is_model_name(std::string_view name);
inline constexpr std::string_view model_name_rule = "a name of letters, digits and . _ - + : / (at most 100)";

}  // namespace normtune
