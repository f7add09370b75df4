#include <cmath>

#include "report/audit_report.h"
#include "report/json_document.h"
#include "report/loss_group_json.h"
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
            {"loss", standing->loss()},
            {"low", json_if(std::isfinite(standing->low), standing->low - 1)},
            {"high", json_if(std::isfinite(standing->high), standing->high - 1)},
            {"dropped", standing->dropped}};
}

json rule_group_json(const RuleGroup& group) {
    json out = loss_group_json(group);
    for (const RuleFinding finding :
         {RuleFinding::applied, RuleFinding::changed, RuleFinding::lifted, RuleFinding::takes_nothing, RuleFinding::leaves_nothing}) {
        out[std::string(rule_finding_names.name(finding))] = group.count(finding);
    }
    return out;
}

json problem_json(const Audit& audit, const ProblemAudit& problem) {
    json heuristics = json::object();
    for (std::size_t i = 0; i < audit.heuristics.size(); ++i) {
        const Obeying& obeying = problem.heuristics[i];
        heuristics[audit.heuristics[i].name()] = {{"obeying", obeying.count}, {"best", standing_json(obeying.best)}};
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

/// All but its problems.
json head_json(const Audit& audit) {
    json heuristics = json::array();
    for (std::size_t i = 0; i < audit.heuristics.size(); ++i) {
        const ThumbRule& heuristic = audit.heuristics[i];
        heuristics.push_back({{"name", heuristic.name()},
                              {"expression", json_if(!heuristic.expression().empty(), heuristic.expression())},
                              {"decides", json_list(heuristic.decides(), [](Axis axis) { return axis_names.name(axis); })},
                              {"groups", json_list(audit.heuristic_groups[i], loss_group_json)}});
    }
    json rules = json::array();
    for (std::size_t i = 0; i < audit.rules.size(); ++i) {
        const Rule& rule = audit.rules[i];
        rules.push_back({{"name", rule.name}, {"keep", rule.keep}, {"groups", json_list(audit.rule_groups[i], rule_group_json)}});
    }
    return {{"device", to_json(audit.rankings.front().device())},
            {"heuristics", std::move(heuristics)},
            {"rules", std::move(rules)},
            {"problems", json::array()}};
}

}  // namespace

void write_audit_json(TextSink& out, std::span<const Audit> audits) {
    const WriteElement device = [&](std::size_t i, std::string_view margin) {
        const Audit& audit = audits[i];
        const WriteElement problem = [&](std::size_t j, std::string_view deeper) {
            write_json(out, problem_json(audit, audit.problems[j]), deeper);
        };
        write_json_with(out, head_json(audit), "problems", audit.problems.size(), problem, margin);
    };
    write_json_document(out, audit_schema_version, {{"devices", json::array()}}, "devices", audits.size(), device);
}

}  // namespace normtune
