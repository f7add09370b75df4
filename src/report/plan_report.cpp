#include "report/plan_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/record_json.h"
#include "support/version.h"

namespace normtune {
namespace {

constexpr int plan_schema_version = 1;

struct Totals {
    std::uint64_t points = 0;
    std::uint64_t kept = 0;
    std::vector<RuleTally> rules;  // in the order of their first appearance
};

Totals add_up(const std::vector<ProblemPlan>& plans) {
    Totals totals;
    for (const ProblemPlan& plan : plans) {
        totals.points += plan.points;
        totals.kept += plan.kept;
        for (const RuleTally& tally : plan.tallies) {
            const auto same = std::find_if(totals.rules.begin(), totals.rules.end(),
                                           [&](const RuleTally& known) { return known.rule == tally.rule; });
            if (same == totals.rules.end()) {
                totals.rules.push_back(tally);
            } else {
                same->pruned += tally.pruned;
            }
        }
    }
    return totals;
}

std::string pruned_text(const ProblemPlan& plan) {
    std::string out;
    for (const RuleTally& tally : plan.tallies) {
        if (tally.pruned > 0 || tally.lifted) {
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", tally.rule,
                               tally.lifted ? "lifted" : grouped(tally.pruned));
        }
    }
    return out;
}

std::string keys_text(const PlanReport& report) {
    std::string out = report.kept_keys.empty() && report.pruned_keys.empty() ? "" : "\n";
    for (std::size_t i = 0; i < report.kept_keys.size(); ++i) {
        for (const std::string& key : report.kept_keys[i]) {
            out += fmt::format("{}  {}\n", report.plans[i].problem.key(), key);
        }
    }
    for (std::size_t i = 0; i < report.pruned_keys.size(); ++i) {
        for (const PlanReport::PrunedKey& pruned : report.pruned_keys[i]) {
            out += fmt::format("{}  {}  pruned by {}\n", report.plans[i].problem.key(), pruned.key, pruned.rule);
        }
    }
    return out;
}

nlohmann::json tallies_json(const std::vector<RuleTally>& tallies) {
    nlohmann::json out = nlohmann::json::array();
    for (const RuleTally& tally : tallies) {
        out.push_back(
            {{"rule", tally.rule}, {"reason", tally.reason}, {"count", tally.pruned}, {"lifted", tally.lifted}});
    }
    return out;
}

}  // namespace

std::string plan_table(const PlanReport& report, const Style& style) {
    const Totals totals = add_up(report.plans);
    Table problems({{"problem"}, {"points", Align::right}, {"kept", Align::right}, {"pruned by"}});
    for (const ProblemPlan& plan : report.plans) {
        problems.add({plan.problem.key(), grouped(plan.points), grouped(plan.kept), pruned_text(plan)});
    }
    problems.add({fmt::format("{} in all", report.plans.size()), grouped(totals.points), grouped(totals.kept), ""});
    Table rules({{"rule"}, {"pruned", Align::right}, {"because"}});
    for (const RuleTally& tally : totals.rules) {
        if (tally.pruned > 0) {
            rules.add({tally.rule, grouped(tally.pruned), tally.reason});
        }
    }
    std::string out =
        fmt::format("Space {}: {} points. Device: {} ({}, {}).\n\n", report.space.name, grouped(report.space.points()),
                    report.device.name, backend_names.name(report.device.backend), report.device.arch);
    out += problems.text(style);
    if (!rules.empty()) {
        out += '\n';
        out += rules.text(style);
    }
    return out + keys_text(report);
}

std::string plan_json(const PlanReport& report) {
    const Totals totals = add_up(report.plans);
    nlohmann::json problems = nlohmann::json::array();
    for (std::size_t i = 0; i < report.plans.size(); ++i) {
        const ProblemPlan& plan = report.plans[i];
        nlohmann::json json{{"problem", to_json(plan.problem)},
                            {"points", plan.points},
                            {"kept", plan.kept},
                            {"pruned", tallies_json(plan.tallies)}};
        if (!report.kept_keys.empty()) {
            json["configurations"] = report.kept_keys[i];
        }
        if (!report.pruned_keys.empty()) {
            nlohmann::json& list = json["pruned_configurations"] = nlohmann::json::array();
            for (const PlanReport::PrunedKey& pruned : report.pruned_keys[i]) {
                list.push_back({{"key", pruned.key}, {"rule", pruned.rule}});
            }
        }
        problems.push_back(std::move(json));
    }
    const nlohmann::json json{{"schema_version", plan_schema_version},
                              {"normtune_version", version()},
                              {"device", to_json(report.device)},
                              {"space", {{"name", report.space.name}, {"points", report.space.points()}}},
                              {"problems", std::move(problems)},
                              {"totals", {{"points", totals.points}, {"kept", totals.kept}}}};
    return json.dump(2) + "\n";
}

}  // namespace normtune
