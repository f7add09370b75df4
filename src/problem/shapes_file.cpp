#include "problem/shapes_file.h"

#include <cctype>
#include <map>
#include <string>

#include <fmt/format.h>
#include <yaml-cpp/emitter.h>

#include "support/config_file.h"
#include "support/error.h"
#include "support/yaml_reader.h"

namespace normtune {
namespace {

constexpr std::size_t most_name_bytes = 100;

std::string read_name(const YamlNode& node) {
    std::string name = node.string();
    if (!is_model_name(name)) {
        node.fail(fmt::format("{} must be {}, not {}", node.label(), model_name_rule, quoted_for_message(name)));
    }
    return name;
}

std::vector<std::int64_t> read_tokens(const YamlNode& node) {
    return node.distinct([](const YamlNode& item) { return item.integer(1, most_tokens); });
}

/// Names are matched without case, so two that differ in case alone are one name.
class DistinctNames {
public:
    void add(const std::string& name, const YamlNode& node) {
        std::string folded = name;
        for (char& c : folded) {
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        const auto [earlier, is_new] = lines_.emplace(folded, node.line());
        if (!is_new) {
            node.fail(
                fmt::format("{} {} is given twice; the first is in line {}", node.label(), quoted_for_message(name), earlier->second));
        }
    }

private:
    std::map<std::string, int> lines_;
};

Site read_site(const YamlNode& node) {
    node.only_keys({"site", "cols", "rows_per_token", "row_stride", "offset", "affine", "weight_dtype"});
    Site site;
    site.site = read_name(node.require("site"));
    site.cols = node.require("cols").integer(1, most_cols);
    site.rows_per_token = node.find_integer("rows_per_token", 1, most_rows_per_token).value_or(site.rows_per_token);
    site.row_stride = node.find_integer("row_stride", site.cols, most_row_stride).value_or(site.row_stride);
    site.offset = static_cast<int>(node.find_integer("offset", 0, 1).value_or(site.offset));
    site.affine = node.find_boolean("affine").value_or(site.affine);
    if (const YamlNode* weight = node.find("weight_dtype")) {
        site.weight_type = weight->one_of(weight_type_names);
    }
    for (const std::string_view key : {"offset", "weight_dtype"}) {
        if (const YamlNode* of_gamma = node.find(key); of_gamma != nullptr && !site.affine) {
            of_gamma->fail(fmt::format("'{}' is a property of gamma, and this site has none (affine: false)", key));
        }
    }
    return site;
}

void check_elements(const YamlNode& node, const Site& site, const std::vector<std::int64_t>& all_tokens) {
    const std::int64_t stride = site.row_stride == 0 ? site.cols : site.row_stride;
    for (const std::int64_t tokens : all_tokens) {
        if (tokens > largest_elements / site.rows_per_token / stride) {
            node.fail(fmt::format("{} tokens × {} rows × {} elements a row are too many; at most {} elements (2^46)", tokens,
                                  site.rows_per_token, stride, largest_elements));
        }
    }
}

Model read_model(const YamlNode& node, const ShapesFile& file, double eps) {
    node.only_keys({"name", "eps", "tokens", "sites"});
    Model model;
    model.name = read_name(node.require("name"));
    model.eps = node.find_number("eps", least_eps, most_eps).value_or(eps);
    if (const YamlNode* tokens = node.find("tokens")) {
        model.tokens = read_tokens(*tokens);
    } else if (file.tokens.empty()) {
        node.fail(fmt::format("model {} has no 'tokens', and the file has none for all models", model.name));
    }
    DistinctNames names;
    for (const YamlNode& item : node.require("sites").items()) {
        Site site = read_site(item);
        names.add(site.site, item.require("site"));
        check_elements(item, site, model.tokens.empty() ? file.tokens : model.tokens);
        model.sites.push_back(std::move(site));
    }
    return model;
}

template <typename E, std::size_t N>
void read_list(const YamlNode& root, std::string_view key, const NameTable<E, N>& table, std::vector<E>& list) {
    if (const YamlNode* node = root.find(key)) {
        list = node->distinct([&](const YamlNode& item) { return item.one_of(table); });
    }
}

template <typename E, std::size_t N>
void write_list(YAML::Emitter& out, const char* key, const std::vector<E>& list, const NameTable<E, N>& table) {
    out << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const E value : list) {
        out << std::string(table.name(value));
    }
    out << YAML::EndSeq;
}

void write_tokens(YAML::Emitter& out, const std::vector<std::int64_t>& tokens) {
    if (!tokens.empty()) {
        out << YAML::Key << "tokens" << YAML::Value << YAML::Flow << YAML::BeginSeq;
        for (const std::int64_t value : tokens) {
            out << value;
        }
        out << YAML::EndSeq;
    }
}

void write_site(YAML::Emitter& out, const Site& site) {
    out << YAML::Flow << YAML::BeginMap;
    out << YAML::Key << "site" << YAML::Value << site.site << YAML::Key << "cols" << YAML::Value << site.cols;
    if (site.rows_per_token != 1) {
        out << YAML::Key << "rows_per_token" << YAML::Value << site.rows_per_token;
    }
    if (site.row_stride != 0) {
        out << YAML::Key << "row_stride" << YAML::Value << site.row_stride;
    }
    if (site.offset != 0) {
        out << YAML::Key << "offset" << YAML::Value << site.offset;
    }
    if (!site.affine) {
        out << YAML::Key << "affine" << YAML::Value << false;
    }
    if (site.weight_type != WeightType::same) {
        out << YAML::Key << "weight_dtype" << YAML::Value << std::string(weight_type_names.name(site.weight_type));
    }
    out << YAML::EndMap;
}

}  // namespace

bool is_model_name(std::string_view name) {
    if (name.empty() || name.size() > most_name_bytes || std::isalnum(static_cast<unsigned char>(name[0])) == 0) {
        return false;
    }
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("._-+:/").find(c) == std::string::npos) {
            return false;
        }
    }
    return true;
}

ShapesFile parse_shapes(std::string_view yaml, const std::string& file_for_messages) {
    const YamlNode root = parse_yaml(yaml, file_for_messages);
    root.only_keys({"name", "eps", "models", "tokens", "dtypes", "ops", "modes", "castings"});
    ShapesFile shapes;
    shapes.file = file_for_messages;
    shapes.name = read_name(root.require("name"));
    if (const YamlNode* tokens = root.find("tokens")) {
        shapes.tokens = read_tokens(*tokens);
    }
    read_list(root, "dtypes", dtype_names, shapes.dtypes);
    read_list(root, "ops", op_names, shapes.ops);
    read_list(root, "modes", mode_names, shapes.modes);
    read_list(root, "castings", casting_names, shapes.castings);
    const double eps = root.find_number("eps", least_eps, most_eps).value_or(Model{}.eps);
    DistinctNames names;
    for (const YamlNode& item : root.require("models").items()) {
        Model model = read_model(item, shapes, eps);
        names.add(model.name, item.require("name"));
        shapes.models.push_back(std::move(model));
    }
    return shapes;
}

ShapesFile load_shapes(const std::string& path_or_name) {
    const ConfigFile config = load_config("shapes", path_or_name);
    return parse_shapes(config.text, config.file);
}

std::string shapes_to_yaml(const ShapesFile& shapes) {
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << shapes.name;
    out << YAML::Key << "models" << YAML::Value << YAML::BeginSeq;
    for (const Model& model : shapes.models) {
        out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << model.name;
        out << YAML::Key << "eps" << YAML::Value << fmt::format("{}", model.eps);  // shortest text that reads back
        write_tokens(out, model.tokens);
        out << YAML::Key << "sites" << YAML::Value << YAML::BeginSeq;
        for (const Site& site : model.sites) {
            write_site(out, site);
        }
        out << YAML::EndSeq << YAML::EndMap;
    }
    out << YAML::EndSeq;
    write_tokens(out, shapes.tokens);
    write_list(out, "dtypes", shapes.dtypes, dtype_names);
    write_list(out, "ops", shapes.ops, op_names);
    write_list(out, "modes", shapes.modes, mode_names);
    write_list(out, "castings", shapes.castings, casting_names);
    out << YAML::EndMap;
    return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace normtune
