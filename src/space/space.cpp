#include "space/space.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "space/reserved_rules.h"
#include "space/rules.h"
#include "space/space_reader.h"
#include "space/study.h"
#include "support/config_file.h"
#include "support/error.h"
#include "support/shipped.h"

namespace normtune {
namespace {

constexpr std::size_t most_rule_bytes = 1000;

constexpr std::size_t most_values_an_axis = 256;  // so that no file has more than 2^64 points
constexpr std::size_t most_rules = 64;

int read_value(Axis axis, const YamlNode& item) {
    const std::string text = item.string();
    const std::optional<int> value = axis_parse(axis, text);
    if (!value) {
        item.fail(fmt::format("{} cannot be {}: {}", axis_names.name(axis), quoted_for_message(text), domain(axis).wanted()));
    }
    return *value;
}

std::vector<AxisValues> read_axes(const YamlNode& node) {
    node.only_keys(axis_names.names);
    std::vector<AxisValues> axes;
    for (const YamlEntry& entry : node.entries()) {
        const Axis axis = *axis_names.find(entry.key);
        const YamlNode& list = node.require(entry.key);
        if (list.items().size() > most_values_an_axis) {
            list.fail(fmt::format("{} has {} values; at most {} are taken", entry.key, list.items().size(), most_values_an_axis));
        }
        axes.push_back({axis, list.distinct([axis](const YamlNode& item) { return read_value(axis, item); })});
    }
    if (axes.empty()) {
        node.fail("'axes' has no axis; give at least one, as in 'num_warps: [4, 8]'");
    }
    return axes;
}

/// Names with a dot are those of the built-in limits and of the backends'; a few others are a sweep's own.
void check_name(const YamlNode& node, const std::string& name) {
    const bool plain = name.size() <= 64 &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
    if (!plain) {
        node.fail(fmt::format("a rule's name has letters, digits, '_' and '-', at most 64: {} does not do", quoted_for_message(name)));
    }
    if (std::ranges::find(reserved_rules, name) != reserved_rules.end()) {
        node.fail(fmt::format("a rule cannot be called {}: results count what a sweep left out by itself under {}; another name does",
                              quoted_for_message(name), fmt::join(reserved_rules, ", ")));
    }
}

Rule read_rule(const YamlNode& node) {
    Rule rule = default_threads_per_row_rule();
    if (node.kind() == YamlNode::Kind::map) {
        node.only_keys({"name", "keep", "keep_all_if_none"});
        rule.name = node.require("name").string();
        rule.keep = node.require("keep").string(most_rule_bytes);
        rule.keep_all_if_none = node.find_boolean("keep_all_if_none").value_or(false);
        check_name(node, rule.name);
    } else if (node.string() != rule.name) {
        node.fail(fmt::format("{} is no known rule; known: {}. A rule of your own is {{name: …, keep: EXPRESSION}}",
                              quoted_for_message(node.string()), rule.name));
    }
    rule.file = node.file();
    rule.line = node.line();
    check_rule(rule);
    return rule;
}

std::vector<Rule> read_rules(const YamlNode& node) {
    std::vector<Rule> rules;
    if (node.items().size() > most_rules) {
        node.fail(fmt::format("{} rules; at most {} are taken", node.items().size(), most_rules));
    }
    for (const YamlNode& item : node.items()) {
        Rule rule = read_rule(item);
        for (const Rule& earlier : rules) {
            if (earlier.name == rule.name) {
                item.fail(fmt::format("rule '{}' is defined twice; the first stands in line {}", rule.name, earlier.line));
            }
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

bool is_shipped(std::string_view folder, const std::string& path_or_name) {
    return find_shipped(folder, std::filesystem::path(path_or_name).filename().string()).has_value();
}

}  // namespace

std::uint64_t SearchSpace::points() const {
    std::uint64_t points = 1;
    for (const AxisValues& axis : axes) {
        const std::uint64_t size = axis.values.size();
        if (size != 0 && points > std::numeric_limits<std::uint64_t>::max() / size) {
            throw InputError(fmt::format("space {}: its axes have more than 2^64 combinations", quoted_for_message(name)));
        }
        points *= size;
    }
    return points;
}

SearchSpace read_space(const YamlNode& node, const std::string& name) {
    SearchSpace space;
    space.name = name;
    space.axes = read_axes(node.require("axes"));
    if (const YamlNode* rules = node.find("rules")) {
        space.rules = read_rules(*rules);
    }
    return space;
}

SearchSpace parse_space(std::string_view yaml, const std::string& file_for_messages) {
    const YamlNode root = parse_yaml(yaml, file_for_messages);
    if (root.find("space") != nullptr) {
        return read_study(root).space;
    }
    root.only_keys({"name", "axes", "rules"});
    return read_space(root, root.require("name").string());
}

SearchSpace load_space(const std::string& path_or_name) {
    const bool study = is_shipped("studies", path_or_name) && !is_shipped("spaces", path_or_name);
    const ConfigFile config = load_config(study ? "studies" : "spaces", path_or_name);
    return parse_space(config.text, config.file);
}

}  // namespace normtune
