#include "report/plan_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/escape.h"
#include "support/version.h"
#include "trial/record_json.h"

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
            const auto same =
                std::find_if(totals.rules.begin(), totals.rules.end(), [&](const RuleTally& known) { return known.rule == tally.rule; });
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
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", tally.rule, tally.lifted ? "lifted" : grouped(tally.pruned));
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
            out += fmt::format("{}  {}  pruned by {}\n", report.plans[i].problem.key(), pruned.key, for_terminal(pruned.rule));
        }
    }
    return out;
}

/// What is worth a line of its own: what failed, what spills, what a rule took.
bool amiss(const PlanReport::Compiled& one) {
    return !one.info || one.pruned || one.info->spill_bytes.value_or(0) > 0;
}

std::string code_line(const PlanReport::Compiled& one) {
    if (!one.info) {
        return one.reason;
    }
    std::string out = fmt::format("{} registers, {} bytes spilled, {} shared, occupancy {:.2f}, code {:.8}",
                                  one.info->registers.value_or(0), one.info->spill_bytes.value_or(0),
                                  byte_text(one.info->shared_bytes.value_or(0)), one.info->occupancy.value_or(0), one.info->code_hash);
    return one.pruned ? fmt::format("{}; pruned by {}", out, one.reason) : out;
}

struct CodeTotals {
    std::size_t compiled = 0;
    std::size_t failed = 0;
    std::size_t spilling = 0;
    std::size_t pruned = 0;
    int registers = 0;
    std::set<std::string> distinct;

    void add(const PlanReport::Compiled& one) {
        ++(one.info ? compiled : failed);
        if (one.info) {
            spilling += one.info->spill_bytes.value_or(0) > 0 ? 1 : 0;
            pruned += one.pruned ? 1 : 0;
            registers = std::max(registers, one.info->registers.value_or(0));
            distinct.insert(one.info->code_hash);
        }
    }
    std::vector<std::string> cells(std::string name) const {
        return {std::move(name),   grouped(compiled), grouped(distinct.size()),    grouped(failed),
                grouped(spilling), grouped(pruned),   fmt::format("{}", registers)};
    }
};

std::string code_text(const PlanReport& report, const Style& style) {
    Table table({{"problem"},
                 {"compiled", Align::right},
                 {"distinct code", Align::right},
                 {"failed", Align::right},
                 {"spill", Align::right},
                 {"pruned by code", Align::right},
                 {"most registers", Align::right}});
    CodeTotals all;
    std::string lines;
    for (std::size_t i = 0; i < report.compiled.size(); ++i) {
        CodeTotals totals;
        const std::string problem = report.plans[i].problem.key();
        for (const PlanReport::Compiled& one : report.compiled[i]) {
            totals.add(one);
            all.add(one);
            if (report.list_code || amiss(one)) {
                lines += fmt::format("{}  {}  {}\n", problem, one.key, for_terminal(code_line(one)));
            }
        }
        table.add(totals.cells(problem));
    }
    table.add(all.cells(fmt::format("{} in all", report.compiled.size())));
    return fmt::format("\nCompiled for {} by {} in {}.\n\n{}{}{}", report.device.arch, report.compiler, time_text(report.compile_s),
                       table.text(style), lines.empty() ? "" : "\n", lines);
}

nlohmann::json code_json(const std::vector<PlanReport::Compiled>& compiled) {
    nlohmann::json out = nlohmann::json::array();
    for (const PlanReport::Compiled& one : compiled) {
        nlohmann::json json{{"key", one.key}, {"outcome", one.info ? one.pruned ? "pruned" : "passed" : "compile_failed"}};
        if (!one.reason.empty()) {
            json["reason"] = one.reason;
        }
        if (one.info) {
            json["code_hash"] = one.info->code_hash;
            json["registers"] = one.info->registers.value_or(0);
            json["spill_bytes"] = one.info->spill_bytes.value_or(0);
            json["shared_bytes"] = one.info->shared_bytes.value_or(0);
            json["occupancy"] = one.info->occupancy.value_or(0);
            json["compile_ms"] = one.info->compile_ms;
            json["from_cache"] = one.info->from_cache;
        }
        out.push_back(std::move(json));
    }
    return out;
}

nlohmann::json tallies_json(const std::vector<RuleTally>& tallies) {
    nlohmann::json out = nlohmann::json::array();
    for (const RuleTally& tally : tallies) {
        out.push_back({{"rule", tally.rule}, {"reason", tally.reason}, {"count", tally.pruned}, {"lifted", tally.lifted}});
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
        fmt::format("Space {}: {} points. Device: {} ({}, {}).\n", for_terminal(report.space.name), grouped(report.space.points()),
                    for_terminal(report.device.name), backend_names.name(report.device.backend), for_terminal(report.device.arch));
    if (report.shard) {
        out += fmt::format("Shard {}: {} of {} problems, {:.1f}% of the estimated work.\n", report.shard->shard.text(), report.plans.size(),
                           report.shard->problems, 100 * report.shard->of_work);
    }
    out += '\n';
    out += problems.text(style);
    if (!rules.empty()) {
        out += '\n';
        out += rules.text(style);
    }
    if (!report.compiled.empty()) {
        out += code_text(report, style);
    }
    return out + keys_text(report);
}

bool PlanReport::compiles() const {
    return std::all_of(compiled.begin(), compiled.end(), [](const std::vector<Compiled>& problem) {
        return std::all_of(problem.begin(), problem.end(), [](const Compiled& one) { return one.info.has_value(); });
    });
}

std::string plan_json(const PlanReport& report) {
    const Totals totals = add_up(report.plans);
    nlohmann::json problems = nlohmann::json::array();
    for (std::size_t i = 0; i < report.plans.size(); ++i) {
        const ProblemPlan& plan = report.plans[i];
        nlohmann::json json{
            {"problem", to_json(plan.problem)}, {"points", plan.points}, {"kept", plan.kept}, {"pruned", tallies_json(plan.tallies)}};
        if (!report.kept_keys.empty()) {
            json["configurations"] = report.kept_keys[i];
        }
        if (!report.pruned_keys.empty()) {
            nlohmann::json& list = json["pruned_configurations"] = nlohmann::json::array();
            for (const PlanReport::PrunedKey& pruned : report.pruned_keys[i]) {
                list.push_back({{"key", pruned.key}, {"rule", pruned.rule}});
            }
        }
        if (!report.compiled.empty()) {
            json["compiled"] = code_json(report.compiled[i]);
        }
        problems.push_back(std::move(json));
    }
    nlohmann::json json{
        {"schema_version", plan_schema_version}, {"normtune_version", version()},
        {"device", to_json(report.device)},      {"space", {{"name", report.space.name}, {"points", report.space.points()}}},
        {"problems", std::move(problems)},       {"totals", {{"points", totals.points}, {"kept", totals.kept}}}};
    if (report.shard) {
        json["shard"] = {{"index", report.shard->shard.index},
                         {"count", report.shard->shard.count},
                         {"problems", report.shard->problems},
                         {"share_of_work", report.shard->of_work}};
    }
    if (!report.compiled.empty()) {
        json["compiler"] = report.compiler;
        json["compile_s"] = report.compile_s;
    }
    return json.dump(2) + "\n";
}

}  // namespace normtune
