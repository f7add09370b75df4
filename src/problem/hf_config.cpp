#include "problem/hf_config.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "problem/hf_families.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/json_reader.h"

namespace normtune {
namespace {

constexpr std::size_t most_config_bytes = std::size_t{4} << 20;
constexpr std::int64_t most_heads = most_rows_per_token;

/// The configuration of the language model: the file's object, or its text_config. An absent key and null are alike.
class Config {
public:
    explicit Config(const JsonReader& object) : object_(object) {}

    [[noreturn]] void fail(std::string_view message) const { object_.fail(message); }

    std::optional<JsonReader> find(std::string_view key) const {
        std::optional<JsonReader> found = object_.find(key);
        return found && found->json().is_null() ? std::nullopt : found;
    }
    bool has(std::string_view key) const { return object_.find(key).has_value(); }
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t most) const {
        const auto found = find(key);
        return found ? std::optional(found->whole(1, most)) : std::nullopt;
    }
    /// The key may be absent where `fallback` is not 0.
    std::int64_t integer(std::string_view key, std::int64_t most, std::int64_t fallback) const {
        const auto found = integer(key, most);
        if (!found && fallback == 0) {
            fail(fmt::format("the key '{}' is missing", key));
        }
        return found.value_or(fallback);
    }
    bool boolean(std::string_view key, bool fallback) const {
        const auto found = find(key);
        return found ? found->flag() : fallback;
    }
    std::string string(std::string_view key) const {
        const auto found = find(key);
        return found ? found->text() : std::string();
    }

private:
    const JsonReader& object_;
};

NormFamily family_of(const Config& config, const std::string& model_type) {
    if (normalises_with_layer_norm(model_type)) {
        config.fail(fmt::format("model_type '{}' normalises with LayerNorm; it has no RMSNorm to tune", model_type));
    }
    for (const NormFamily& family : norm_families()) {
        if (family.model_type == model_type) {
            return family;
        }
    }
    if (!config.find("rms_norm_eps")) {
        config.fail(fmt::format("no RMSNorm is known of model_type {}, and there is no 'rms_norm_eps'", quoted_for_message(model_type)));
    }
    if (config.boolean("use_qk_norm", false)) {
        config.fail(
            fmt::format("model_type {} has use_qk_norm, and how it normalises q and k is not known; write its "
                        "sites into a shapes file by hand",
                        quoted_for_message(model_type)));
    }
    return {.model_type = {}};
}

std::int64_t head_dim_of(const Config& config, const NormFamily& family, std::int64_t hidden, std::int64_t heads) {
    if (const auto given = config.integer("head_dim", most_cols)) {
        return *given;
    }
    if (family.head_dim != 0) {
        return family.head_dim;
    }
    if (hidden % heads != 0) {
        config.fail(fmt::format("'head_dim' is missing, and hidden_size {} is no multiple of num_attention_heads {}", hidden, heads));
    }
    return hidden / heads;
}

void add_qk_norms(const Config& config, const NormFamily& family, std::int64_t hidden, std::vector<Site>& sites) {
    const bool has_norm = !family.use_qk_norm || config.boolean("use_qk_norm", *family.use_qk_norm);
    if (family.qk_norm == QkNorm::none || !has_norm) {
        return;
    }
    const std::int64_t heads = config.integer("num_attention_heads", most_heads, family.heads);
    const std::int64_t key_value_heads =
        config.integer("num_key_value_heads", most_heads).value_or(family.key_value_heads == 0 ? heads : family.key_value_heads);
    const std::int64_t head_dim = head_dim_of(config, family, hidden, heads);
    for (const auto& [name, count] : {std::pair{"q_norm", heads}, std::pair{"k_norm", key_value_heads}}) {
        Site site;
        site.site = name;
        site.cols = family.qk_norm == QkNorm::whole ? head_dim * count : head_dim;
        site.rows_per_token = family.qk_norm == QkNorm::whole ? 1 : count;
        site.affine = family.qk_norm != QkNorm::weightless;
        site.offset = site.affine ? family.offset : 0;
        site.weight_type = site.affine ? family.weight_type : WeightType::same;
        if (site.cols > most_cols) {
            config.fail(fmt::format("{} has {} columns; at most {} are allowed", name, site.cols, most_cols));
        }
        sites.push_back(site);
    }
}

/// Latent attention: the norms of the compressed queries and of the compressed keys and values. The latter reads the
/// first columns of a projection that holds the rotary part of the keys beside them.
void add_latent_norms(const Config& config, const NormFamily& family, std::vector<Site>& sites) {
    if (family.latent && !config.find("kv_lora_rank")) {
        config.fail(fmt::format("the key 'kv_lora_rank' is missing: model_type '{}' normalises compressed keys and values of that rank",
                                family.model_type));
    }
    if (family.latent && !config.has("q_lora_rank")) {
        config.fail(fmt::format(
            "the key 'q_lora_rank' is missing: model_type '{}' normalises compressed queries of that rank; null says that it has none",
            family.model_type));
    }
    if (const auto rank = config.integer("q_lora_rank", most_cols)) {
        Site site;
        site.site = "q_a";
        site.cols = *rank;
        sites.push_back(site);
    }
    if (const auto rank = config.integer("kv_lora_rank", most_cols)) {
        Site site;
        site.site = "kv_a";
        site.cols = *rank;
        site.row_stride = *rank + config.integer("qk_rope_head_dim", most_cols, 0);
        sites.push_back(site);
    }
}

/// Of `dtype`, or as files of older versions call it `torch_dtype`: "float16", or "torch.float16". bf16 where there is neither.
Dtype dtype_of(const Config& config) {
    constexpr std::string_view prefix = "torch.";
    for (const char* key : {"dtype", "torch_dtype"}) {
        const std::optional<JsonReader> found = config.find(key);
        if (!found) {
            continue;
        }
        const std::string name = found->text();
        std::vector<std::string_view> known;
        for (const DtypeRow& row : dtype_rows) {
            known.push_back(row.torch_name.substr(prefix.size()));
            if (name == row.torch_name || name == known.back()) {
                return *dtype_names.find(row.name);
            }
        }
        found->fail(fmt::format("unknown type {}; known: {}", quoted_for_message(name), fmt::join(known, ", ")));
    }
    return Dtype::bf16;
}

/// The nearest name that a shapes file can carry: of "Qwen/Qwen3-8B" the last part, anything odd as '-'.
std::string usable_name(std::string name) {
    while (name.ends_with('/')) {
        name.pop_back();
    }
    name = name.substr(name.rfind('/') + 1);
    name.erase(0, static_cast<std::size_t>(std::find_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0; }) -
                                           name.begin()));
    for (char& c : name) {
        c = is_model_name(std::string("x") + c) ? c : '-';
    }
    constexpr std::size_t longest = 100;
    name.resize(std::min(name.size(), longest));
    return name.empty() ? "model" : name;
}

}  // namespace

ShapesFile parse_hf_config(std::string_view json, const std::string& file, const std::string& name, const std::vector<std::int64_t>& tokens,
                           std::string* assumed) {
    const nlohmann::json root = parse_json(json, file);
    const std::string place = file + ": ";  // readers refer to it
    const JsonReader outer_object(root, place);
    const Config outer(outer_object);
    const std::optional<JsonReader> nested = outer.find("text_config");
    const Config config(nested ? *nested : outer_object);
    const std::string inner_type = config.string("model_type");
    const std::string model_type = inner_type.empty() ? outer.string("model_type") : inner_type;
    const NormFamily family = family_of(config, model_type);
    if (family.model_type.empty() && assumed != nullptr) {
        *assumed = fmt::format(
            "{}: {}; taken as Llama's: one norm of hidden_size, rounded as casting llama says, gamma without an offset, no norms of "
            "queries and keys",
            file,
            model_type.empty() ? "there is no 'model_type'"
                               : fmt::format("the norms of model_type {} are not known", quoted_for_message(model_type)));
    }

    Site hidden;
    hidden.site = "hidden";
    hidden.cols = config.integer("hidden_size", most_cols, 0);
    hidden.offset = family.offset;
    hidden.weight_type = family.weight_type;
    Model model;
    const std::string given_name = outer.string("_name_or_path");
    model.name = usable_name(given_name.empty() ? name : given_name);
    if (const auto eps = config.find("rms_norm_eps")) {
        model.eps = eps->number();
        if (!(model.eps >= least_eps && model.eps <= most_eps)) {
            eps->fail(fmt::format("{:g} is out of range; {:g} to {:g}", model.eps, least_eps, most_eps));
        }
    }
    model.sites.push_back(hidden);
    add_qk_norms(config, family, hidden.cols, model.sites);
    add_latent_norms(config, family, model.sites);

    ShapesFile shapes;
    shapes.file = file;
    shapes.name = model.name;
    shapes.tokens = tokens.empty() ? std::vector<std::int64_t>{1, 128, 8192} : tokens;
    shapes.dtypes = {dtype_of(config.find("torch_dtype") || config.find("dtype") ? config : outer)};
    shapes.ops.clear();
    for (const OpDescriptor& op : op_registry) {
        if (op.of_models) {
            shapes.ops.push_back(*op_names.find(op.name));
        }
    }
    shapes.modes = {Mode::forward, Mode::backward};
    shapes.castings = {family.casting};
    shapes.models.push_back(std::move(model));
    return shapes;
}

ShapesFile shapes_from_hf(const std::string& json_path, const std::vector<std::int64_t>& tokens, std::string* assumed) {
    const std::string text = read_file(json_path, most_config_bytes);
    const std::filesystem::path folder = std::filesystem::absolute(json_path).parent_path();
    return parse_hf_config(text, json_path, folder.filename().string(), tokens, assumed);
}

}  // namespace normtune
