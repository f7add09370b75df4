#include <nlohmann/json.hpp>

#include "report/audit_report.h"
#include "support/version.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr int audit_schema_version = 1;

json standing_json(const Standing* standing) {
    if (standing == nullptr) {
        return nullptr;
    }
    return {{"configuration", standing->record->candidate.key()},
            {"p50_us", standing->record->measurement->p50_us},
            {"ratio", standing->ratio},
            {"loss", standing->loss()}};
}

json group_json(const LossGroup& group) {
    const bool judged = group.judged > 0;
    return {{"op", group.op.empty() ? json() : json(group.op)},
            {"mode", group.op.empty() ? json() : json(group.mode)},
            {"problems", group.problems},
            {"judged", group.judged},
            {"mean_loss", judged ? json(group.mean) : json()},
            {"worst_loss", judged ? json(group.worst) : json()},
            {"worst_problem", judged ? json(group.worst_on->problem().key()) : json()}};
}

json rule_group_json(const RuleGroup& group) {
    json out = group_json(group.loss);
    out["applied"] = group.applied;
    out["changed"] = group.changed;
    out["lifted"] = group.lifted;
    out["takes_nothing"] = group.takes_nothing;
    out["leaves_nothing"] = group.leaves_nothing;
    return out;
}

json problem_json(const Audit& audit, const ProblemAudit& problem) {
    json heuristics = json::object();
    for (std::size_t i = 0; i < audit.heuristics.size(); ++i) {
        const HeuristicLoss& loss = problem.heuristics[i];
        heuristics[audit.heuristics[i].name()] = {{"obeying", loss.obeying}, {"best", standing_json(loss.best)}};
    }
    json rules = json::object();
    for (std::size_t i = 0; i < audit.rules.size(); ++i) {
        const RuleLoss& loss = problem.rules[i];
        rules[audit.rules[i].name] = {{"finding", rule_finding_names.name(loss.finding)},
                                      {"unmeasured", loss.unmeasured},
                                      {"taken", loss.taken},
                                      {"best_taken", standing_json(loss.best_taken)},
                                      {"best_kept", standing_json(loss.best_kept)}};
    }
    const Record& winner = *problem.ranking->winner;
    return {{"problem", winner.problem.key()},
            {"measured", problem.ranking->standings.size()},
            {"kept_by_plan", problem.ranking->plan != nullptr ? json(problem.ranking->plan->kept) : json()},
            {"best", {{"configuration", winner.candidate.key()}, {"p50_us", winner.measurement->p50_us}}},
            {"heuristics", std::move(heuristics)},
            {"rules", std::move(rules)}};
}

json to_json(const Audit& audit) {
    json heuristics = json::array();
    for (std::size_t i = 0; i < audit.heuristics.size(); ++i) {
        const ThumbRule& heuristic = audit.heuristics[i];
        json decides = json::array();
        for (const Axis axis : heuristic.decides()) {
            decides.push_back(axis_names.name(axis));
        }
        json groups = json::array();
        for (const LossGroup& group : audit.heuristic_groups[i]) {
            groups.push_back(group_json(group));
        }
        heuristics.push_back({{"name", heuristic.name()},
                              {"expression", heuristic.expression().empty() ? json() : json(heuristic.expression())},
                              {"decides", std::move(decides)},
                              {"groups", std::move(groups)}});
    }
    json rules = json::array();
    for (std::size_t i = 0; i < audit.rules.size(); ++i) {
        json groups = json::array();
        for (const RuleGroup& group : audit.rule_groups[i]) {
            groups.push_back(rule_group_json(group));
        }
        rules.push_back({{"name", audit.rules[i].name}, {"keep", audit.rules[i].keep}, {"groups", std::move(groups)}});
    }
    json problems = json::array();
    for (const ProblemAudit& problem : audit.problems) {
        problems.push_back(problem_json(audit, problem));
    }
    return {{"device", to_json(audit.rankings.front().device())},
            {"heuristics", std::move(heuristics)},
            {"rules", std::move(rules)},
            {"problems", std::move(problems)}};
}

}  // namespace

std::string audit_json(std::span<const Audit> audits) {
    json devices = json::array();
    for (const Audit& audit : audits) {
        devices.push_back(to_json(audit));
    }
    const json document{{"schema_version", audit_schema_version}, {"normtune_version", version()}, {"devices", std::move(devices)}};
    return document.dump(2) + "\n";
}

}  // namespace normtune
