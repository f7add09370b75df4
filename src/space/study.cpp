#include "space/study.h"

#include <fmt/format.h>

#include "space/space_reader.h"
#include "support/config_file.h"
#include "support/error.h"

namespace normtune {
namespace {

std::vector<std::string> read_strings(const YamlNode& node) {
    return node.distinct([](const YamlNode& item) { return item.string(); });
}

template <typename E, std::size_t N>
std::vector<E> read_names(const YamlNode& node, const NameTable<E, N>& table) {
    return node.distinct([&table](const YamlNode& item) { return item.one_of(table); });
}

Selection read_selection(const YamlNode& node) {
    node.only_keys({"models", "sites", "tokens", "dtypes", "ops", "modes", "castings", "in_place", "residual", "weight_dtype"});
    Selection select;
    if (const YamlNode* models = node.find("models")) {
        select.models = read_strings(*models);
    }
    if (const YamlNode* sites = node.find("sites")) {
        select.sites = read_strings(*sites);
    }
    if (const YamlNode* tokens = node.find("tokens")) {
        select.tokens = tokens->distinct([](const YamlNode& item) { return item.integer(1, most_tokens); });
    }
    if (const YamlNode* dtypes = node.find("dtypes")) {
        select.dtypes = read_names(*dtypes, dtype_names);
    }
    if (const YamlNode* ops = node.find("ops")) {
        select.ops = read_names(*ops, op_names);
    }
    if (const YamlNode* modes = node.find("modes")) {
        select.modes = read_names(*modes, mode_names);
    }
    if (const YamlNode* castings = node.find("castings")) {
        select.castings = read_names(*castings, casting_names);
    }
    select.in_place = node.find_boolean("in_place").value_or(false);
    if (const YamlNode* residual = node.find("residual")) {
        select.residual = residual->one_of(residual_names);
    }
    if (const YamlNode* weight = node.find("weight_dtype")) {
        select.weight_type = weight->one_of(weight_type_names);
    }
    return select;
}

ConfigFile find_space(const YamlNode& node) {
    try {
        return load_config("spaces", node.string());
    } catch (const InputError& error) {
        node.fail(error.what());  // where the name stands
    }
}

SearchSpace read_study_space(const YamlNode& node, const std::string& study) {
    if (node.kind() != YamlNode::Kind::map) {
        const ConfigFile config = find_space(node);
        const YamlNode root = parse_yaml(config.text, config.file);
        if (root.find("space") != nullptr) {
            node.fail(fmt::format("{} is a study itself; name a space file here", quoted_for_message(config.file)));
        }
        return parse_space(config.text, config.file);
    }
    node.only_keys({"axes", "rules"});
    return read_space(node, study);
}

}  // namespace

Study read_study(const YamlNode& root) {
    root.only_keys({"name", "question", "shapes", "select", "space"});
    Study study;
    study.name = root.require("name").string();
    study.question = root.require("question").string();
    study.shapes = read_strings(root.require("shapes"));
    if (const YamlNode* select = root.find("select")) {
        study.select = read_selection(*select);
    }
    study.space = read_study_space(root.require("space"), study.name);
    return study;
}

Study parse_study(std::string_view yaml, const std::string& file_for_messages) {
    return read_study(parse_yaml(yaml, file_for_messages));
}

Study load_study(const std::string& path_or_name) {
    const ConfigFile config = load_config("studies", path_or_name);
    return parse_study(config.text, config.file);
}

}  // namespace normtune
