#include "report/plan_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/json_document.h"
#include "support/escape.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

constexpr int plan_schema_version = 1;

struct Totals {
    std::uint64_t points = 0;
    std::uint64_t kept = 0;
    std::vector<RuleTally> rules;  // in the order of their first appearance
};

Totals add_up(const std::vector<PlannedProblem>& problems) {
    Totals totals;
    for (const PlannedProblem& problem : problems) {
        totals.points += problem.plan.points;
        totals.kept += problem.plan.kept;
        for (const RuleTally& tally : problem.plan.tallies) {
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

/// The table of compiled code lists what is kept with its figures.
std::string keys_text(const Planning& planning) {
    std::string kept;
    std::string pruned;
    for (const PlannedProblem& problem : planning.problems) {
        const std::string key = problem.plan.problem.key();
        for (std::size_t i = 0; planning.options.list && !planning.options.compile && i < problem.kept.size(); ++i) {
            kept += fmt::format("{}  {}\n", key, problem.kept[i].identity());
        }
        for (const PlannedProblem::Pruned& one : problem.pruned) {
            pruned += fmt::format("{}  {}  pruned by {}\n", key, one.candidate.identity(), for_terminal(one.rule));
        }
    }
    const bool listed = (planning.options.list && !planning.options.compile) || planning.options.list_pruned;
    return (listed && !planning.problems.empty() ? "\n" : "") + kept + pruned;
}

/// What is worth a line of its own: what failed, what spills, what a rule took.
bool amiss(const TrialCode& one) {
    return !one.info || one.pruned || one.info->spill_bytes.value_or(0) > 0;
}

std::string code_line(const TrialCode& one) {
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

    void add(const TrialCode& one) {
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

std::string code_text(const Planning& planning, const Style& style) {
    Table table("problem|>compiled|>distinct code|>failed|>spill|>pruned by code|>most registers");
    CodeTotals all;
    std::string lines;
    for (const PlannedProblem& problem : planning.problems) {
        CodeTotals totals;
        const std::string key = problem.plan.problem.key();
        for (std::size_t i = 0; i < problem.compiled.size(); ++i) {
            const TrialCode& code = problem.compiled[i];
            totals.add(code);
            all.add(code);
            if (planning.options.list || amiss(code)) {
                lines += fmt::format("{}  {}  {}\n", key, problem.kept[i].identity(), for_terminal(code_line(code)));
            }
        }
        table.add(totals.cells(key));
    }
    table.add(all.cells(fmt::format("{} in all", planning.problems.size())));
    return fmt::format("\nCompiled for {} by {} in {}.\n\n{}{}{}", planning.options.device.arch, planning.compiler,
                       time_text(planning.compile_s), table.text(style), lines.empty() ? "" : "\n", lines);
}

nlohmann::json code_json(const PlannedProblem& problem) {
    nlohmann::json out = nlohmann::json::array();
    for (std::size_t i = 0; i < problem.compiled.size(); ++i) {
        const TrialCode& one = problem.compiled[i];
        nlohmann::json json{{"key", problem.kept[i].identity()},
                            {"outcome", one.info ? one.pruned ? "pruned" : "passed" : "compile_failed"}};
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

nlohmann::json problem_json(const Planning& planning, const PlannedProblem& problem) {
    const ProblemPlan& plan = problem.plan;
    nlohmann::json json{{"problem", to_json(plan.problem)}, {"points", plan.points}, {"kept", plan.kept}};
    json["pruned"] = json_list(plan.tallies, [](const RuleTally& tally) {
        return nlohmann::json{{"rule", tally.rule}, {"reason", tally.reason}, {"count", tally.pruned}, {"lifted", tally.lifted}};
    });
    if (planning.options.list) {
        json["configurations"] = json_list(problem.kept, [](const Candidate& candidate) { return candidate.identity(); });
    }
    if (planning.options.list_pruned) {
        json["pruned_configurations"] = json_list(problem.pruned, [](const PlannedProblem::Pruned& pruned) {
            return nlohmann::json{{"key", pruned.candidate.identity()}, {"rule", pruned.rule}};
        });
    }
    if (planning.options.compile) {
        json["compiled"] = code_json(problem);
    }
    return json;
}

}  // namespace

std::string plan_table(const Planning& planning, const Style& style) {
    const SearchSpace& space = planning.options.space;
    const DeviceInfo& device = planning.options.device;
    const std::optional<Shard>& shard = planning.options.shard;
    const Totals totals = add_up(planning.problems);
    Table problems("problem|>points|>kept|pruned by");
    for (const PlannedProblem& problem : planning.problems) {
        const ProblemPlan& plan = problem.plan;
        problems.add({plan.problem.key(), grouped(plan.points), grouped(plan.kept), pruned_text(plan)});
    }
    problems.add({fmt::format("{} in all", planning.problems.size()), grouped(totals.points), grouped(totals.kept), ""});
    Table rules("rule|>pruned|because");
    for (const RuleTally& tally : totals.rules) {
        if (tally.pruned > 0) {
            rules.add({tally.rule, grouped(tally.pruned), tally.reason});
        }
    }
    std::string out = planning.options.candidates.alone
                          ? std::string("Candidates alone.")
                          : fmt::format("Space {}: {} points.", for_terminal(space.name), grouped(space.points()));
    out += fmt::format(" Device: {} ({}, {}).\n", for_terminal(device.name), backend_names.name(device.backend), for_terminal(device.arch));
    if (shard) {
        out += fmt::format("Shard {}: {} of {} problems, {:.1f}% of the estimated work.\n", shard->text(), planning.problems.size(),
                           planning.options.problems.size(), 100 * planning.of_work);
    }
    out += '\n';
    out += problems.text(style);
    out += rules.empty() ? "" : fmt::format("\n{}", rules.text(style));
    out += planning.has_code() ? code_text(planning, style) : "";
    return out + keys_text(planning);
}

std::string plan_json(const Planning& planning) {
    const PlanningOptions& options = planning.options;
    const Totals totals = add_up(planning.problems);
    nlohmann::json json{
        {"device", to_json(options.device)},
        {"space", {{"name", options.space.name}, {"points", options.space.points()}}},
        {"problems", json_list(planning.problems, [&](const PlannedProblem& problem) { return problem_json(planning, problem); })},
        {"totals", {{"points", totals.points}, {"kept", totals.kept}}}};
    if (options.shard) {
        json["shard"] = {{"index", options.shard->index},
                         {"count", options.shard->count},
                         {"problems", options.problems.size()},
                         {"share_of_work", planning.of_work}};
    }
    if (planning.has_code()) {
        json["compiler"] = planning.compiler;
        json["compile_s"] = planning.compile_s;
    }
    return json_document(plan_schema_version, std::move(json));
}

}  // namespace normtune
