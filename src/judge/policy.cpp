#include "judge/policy.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "support/error.h"
#include "support/pattern.h"
#include "support/yaml_reader.h"

namespace normtune {
namespace {

constexpr double most_percent = 1000;
constexpr std::array<std::string_view, 8> selectors{"op", "mode", "site", "rows", "cols", "problem", "config", "metric"};

double percent(const YamlNode& node, double least = 0, double most = most_percent) {
    return node.number(least, most) / 100;
}

bool is_date(std::string_view text) {
    constexpr std::string_view shape = "0000-00-00";
    if (text.size() != shape.size()) {
        return false;
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') {
            return false;
        }
    }
    const auto number = [&](std::size_t first, std::size_t digits) { return std::stoi(std::string(text.substr(first, digits))); };
    return std::chrono::year_month_day(std::chrono::year(number(0, 4)), std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                       std::chrono::day(static_cast<unsigned>(number(8, 2))))
        .ok();
}

template <std::size_t N>
void only_keys_with(const YamlNode& node, const std::array<std::string_view, N>& more) {
    std::vector<std::string_view> keys(selectors.begin(), selectors.end());
    keys.insert(keys.end(), more.begin(), more.end());
    node.only_keys(keys);
}

PairPattern read_pattern(const YamlNode& node) {
    PairPattern out;
    out.line = node.line();
    out.op = node.find_string("op").value_or("");
    out.mode = node.find_string("mode").value_or("");
    out.site = node.find_string("site").value_or("");
    out.rows = node.find_integer("rows", 1, largest_size).value_or(0);
    out.cols = node.find_integer("cols", 1, largest_size).value_or(0);
    out.problem = node.find_string("problem").value_or("*");
    out.config = node.find_string("config").value_or("*");
    if (const YamlNode* metric = node.find("metric")) {
        out.metric = metric->one_of(metric_names);
    }
    return out;
}

/// An entry that does not say which pairs it is about would stand for all, which is more likely a slip. `list` is the key that it is in.
void require_selector(const YamlNode& node, std::string_view list) {
    if (std::ranges::none_of(selectors, [&](std::string_view key) { return node.find(key) != nullptr; })) {
        node.fail(fmt::format("an item of '{}' says which pairs it is about by one of {}; problem: '*' is all of them", list,
                              fmt::join(selectors, ", ")));
    }
}

Policy::Threshold read_threshold(const YamlNode& node) {
    only_keys_with(node, std::array<std::string_view, 1>{"percent"});
    Policy::Threshold out{read_pattern(node), percent(node.require("percent"))};
    require_selector(node, "thresholds");
    out.pairs.metric = out.pairs.metric.value_or(Metric::latency);  // it stands for `percent`; `memory_percent` is another key
    return out;
}

Policy::Known read_known(const YamlNode& node) {
    only_keys_with(node, std::array<std::string_view, 2>{"until", "reason"});
    Policy::Known out{read_pattern(node), node.require("until").string(), node.require("reason").string()};
    if (!is_date(out.until)) {
        node.require("until").fail(fmt::format("'until' is {}; a day belongs there, as in 2026-12-31", quoted_for_message(out.until)));
    }
    require_selector(node, "known");
    return out;
}

bool shell_matches(const std::string& pattern, std::string_view text) {
    return pattern == "*" || fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace

bool PairPattern::matches(const PolicySubject& subject) const {
    const auto has_site = [&] {
        const std::vector<std::string_view> sites = split(subject.sites, ';');
        return std::find(sites.begin(), sites.end(), site) != sites.end();
    };
    return (!metric || *metric == subject.metric) && (op.empty() || subject.op == op) && (mode.empty() || subject.mode == mode) &&
           (site.empty() || has_site()) && (rows == 0 || subject.rows == rows) && (cols == 0 || subject.cols == cols) &&
           shell_matches(problem, subject.problem) && shell_matches(config, subject.config);
}

bool PairPattern::matches(const Comparison& comparison, const Pair& pair) const {
    const RowProblem& row = comparison.problem(pair);
    const auto text = [&](TextId RowProblem::*member) { return comparison.text(pair, member); };
    const ResultRow* const after = comparison.candidate_row(pair);
    const std::string_view key = after != nullptr ? comparison.candidate->text(after->configuration)
                                                  : comparison.baseline->text(comparison.baseline_row(pair)->configuration);
    return matches({text(&RowProblem::op), text(&RowProblem::mode), text(&RowProblem::site), row.rows, row.cols, text(&RowProblem::key),
                    key, comparison.settings.metric});
}

void require_known_words(const Policy& policy, const std::string& file, std::span<const ResultRows* const> results) {
    const auto require = [&](std::string_view key, const std::string& word, int line, auto known, TextId RowProblem::*member) {
        if (word.empty() || known.find(word)) {
            return;
        }
        for (const ResultRows* side : results) {
            for (const RowProblem& problem : side->problems) {
                if (side->text(problem.*member) == word) {
                    return;
                }
            }
        }
        throw InputError(file, line,
                         fmt::format("'{}' is {}, which is in none of the results{}", key, quoted_for_message(word),
                                     suggestion(word, known.names.data(), known.names.data() + known.names.size())));
    };
    const auto look = [&](const PairPattern& pattern) {
        require("op", pattern.op, pattern.line, op_names, &RowProblem::op);
        require("mode", pattern.mode, pattern.line, mode_names, &RowProblem::mode);
    };
    for (const Policy::Threshold& threshold : policy.thresholds) {
        look(threshold.pairs);
    }
    for (const Policy::Known& known : policy.known) {
        look(known.pairs);
    }
}

CompareSettings Policy::settings(Metric metric) const {
    CompareSettings out;
    out.by = by;
    out.metric = metric;
    out.threshold = metric == Metric::latency ? threshold : memory_threshold;
    out.margin = margin;
    out.false_discoveries = false_discoveries;
    out.run_to_run = run_to_run;
    out.across = across;
    out.of_policy = true;
    if (!thresholds.empty()) {
        out.own_threshold = [entries = thresholds](const Comparison& comparison, const Pair& pair) {
            const auto found = std::ranges::find_if(entries, [&](const Threshold& entry) { return entry.pairs.matches(comparison, pair); });
            return found != entries.end() ? found->threshold : comparison.settings.threshold;
        };
    }
    return out;
}

std::string Policy::Known::run_out_text() const {
    return fmt::format("a known regression ({}) was known until {} and is no longer excused", reason, until);
}

double Policy::threshold_of(const PolicySubject& subject) const {
    const auto found =
        std::find_if(thresholds.begin(), thresholds.end(), [&](const Threshold& entry) { return entry.pairs.matches(subject); });
    return found != thresholds.end() ? found->threshold : threshold;
}

Policy parse_policy(std::string_view yaml, const std::string& file) {
    const YamlNode root = parse_yaml(yaml, file);
    root.only_keys({"name", "by", "metrics", "percent", "memory_percent", "margin_percent", "false_discoveries_percent",
                    "run_to_run_percent", "across", "missing", "failed", "ambiguous", "new", "thresholds", "known"});
    Policy policy;
    policy.name = root.require("name").string();
    const auto set = [&](std::string_view key, double& value, double least, double most = most_percent) {
        if (const YamlNode* node = root.find(key)) {
            value = percent(*node, least, most);
        }
    };
    set("percent", policy.threshold, 0.01);
    set("memory_percent", policy.memory_threshold, 0);
    set("margin_percent", policy.margin, 0);
    set("false_discoveries_percent", policy.false_discoveries, 1e-6, 50);
    set("run_to_run_percent", policy.run_to_run, 0);
    if (const YamlNode* by = root.find("by")) {
        policy.by = by->one_of(match_by_names);
    }
    if (const YamlNode* metrics = root.find("metrics")) {
        policy.metrics = metrics->distinct([](const YamlNode& item) { return item.one_of(metric_names); });
    }
    if (const YamlNode* across = root.find("across")) {
        policy.across = across->distinct([](const YamlNode& item) { return item.one_of(facet_names); });
    }
    const auto set_result = [&](std::string_view key, GateResult& result) {
        if (const YamlNode* node = root.find(key)) {
            result = node->one_of(gate_result_names);
        }
    };
    set_result("missing", policy.missing);
    set_result("failed", policy.failed);
    set_result("ambiguous", policy.ambiguous);
    set_result("new", policy.new_);
    if (const YamlNode* thresholds = root.find("thresholds")) {
        for (const YamlNode& item : thresholds->items()) {
            policy.thresholds.push_back(read_threshold(item));
        }
    }
    if (const YamlNode* known = root.find("known")) {
        for (const YamlNode& item : known->items()) {
            policy.known.push_back(read_known(item));
        }
    }
    return policy;
}

}  // namespace normtune
