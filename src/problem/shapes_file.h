// Shape files, the selection of what they hold, and problems made of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"

namespace normtune {

struct Site {
    std::string site;
    std::int64_t cols = 0;
    std::int64_t rows_per_token = 1;
    std::int64_t row_stride = 0;  // 0: cols
    int offset = 0;
    bool affine = true;
    std::string weight_dtype;  // "" : the tensor's dtype; "fp32"
    int line = 0;
};

struct Model {
    std::string name;
    double eps = 1e-6;
    std::vector<Site> sites;
    int line = 0;
};

struct ShapesFile {
    std::string name;
    std::vector<Model> models;
    std::vector<std::int64_t> tokens;
    std::vector<Dtype> dtypes;
    std::vector<Op> ops;
    std::vector<Mode> modes;
    std::vector<Casting> castings;  // default: llama
    std::string file;
};

/// A name that is no file is looked up among the shipped ones ("qwen3" or "qwen3.yaml").
/// Throws InputError (file, line, what is wrong, what would be right).
ShapesFile load_shapes(const std::string& path_or_name);
ShapesFile parse_shapes(std::string_view yaml, const std::string& file_for_messages);
std::string shapes_to_yaml(const ShapesFile& shapes);

/// Narrows what the files say; an empty list leaves that part as the file has it.
struct Selection {
    std::vector<std::string> models;  // names, matched without case; '*' and '?' as in a shell
    std::vector<std::string> sites;
    std::vector<std::int64_t> tokens;
    std::vector<Dtype> dtypes;
    std::vector<Op> ops;
    std::vector<Mode> modes;
    std::vector<Casting> castings;
    bool in_place = false;
    ResidualPrecision residual = ResidualPrecision::rounded;
    std::string weight_dtype;  // "": as the file says; "same"; "fp32"
};

/// The problems of the files under the selection, in file order, each piece of work once with all of its uses.
/// Ops make sense per site: q_norm, k_norm, q_a and kv_a are never fused with a residual add.
/// Throws InputError: a model, site, … that no file has (with what there is), or nothing selected.
std::vector<Problem> select_problems(const std::vector<ShapesFile>& files, const Selection& selection);

/// A Hugging Face model configuration (config.json) as shapes.
/// Throws InputError: not JSON, no hidden_size, wrong types, …
ShapesFile shapes_from_hf(const std::string& json_path, const std::vector<std::int64_t>& tokens);

}  // namespace normtune
