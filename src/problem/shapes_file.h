// Shape files: YAML in and out.
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

/// Is this a name that files and results can carry: letters, digits and . _ - + : /, a letter or digit first, at most
/// 100 bytes. (Results join names with ';', selections use '*', '?' and ','.)
bool is_model_name(std::string_view name);
inline constexpr std::string_view model_name_rule = "a name of letters, digits and . _ - + : / (at most 100)";

}  // namespace normtune
