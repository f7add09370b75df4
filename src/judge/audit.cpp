#include "judge/audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>

#include "space/rules.h"
#include "support/error.h"
#include "support/on_all_cores.h"

namespace normtune {
namespace {

CodeFigures figures_of(const Record& record) {
    return record.compile ? record.compile->figures() : CodeFigures{};
}

bool keeps(const CompiledRule& rule, const Record& record) {
    const Configuration& own = *record.candidate.configuration();
    const RuleAnswer answer = rule.reads_code() ? rule.ask(own, figures_of(record)) : rule.ask(own);
    if (answer == RuleAnswer::undefined) {
        rule.fail(own);
    }
    return answer == RuleAnswer::keeps;
}

/// The least loss, then the least ratio; null where none is given.
const Standing* best_standing(const std::vector<const Standing*>& standings) {
    const auto best = std::min_element(standings.begin(), standings.end(), [](const Standing* a, const Standing* b) {
        return std::tuple(a->loss(), a->ratio) < std::tuple(b->loss(), b->ratio);
    });
    return best == standings.end() ? nullptr : *best;
}

/// Configurations that the sweep left without a time because of this rule.
struct Unmeasured {
    std::uint64_t by_this = 0;   // its expression, whatever its name
    std::uint64_t by_other = 0;  // another expression under its name
};

Unmeasured unmeasured_by(const Rule& rule, const CompiledRule& compiled, const ProblemRanking& ranking) {
    Unmeasured count;
    if (ranking.plan != nullptr) {
        for (const PlanSummary::Pruned& pruned : ranking.plan->pruned) {
            if (pruned.reason == rule.keep) {
                count.by_this += pruned.count;
            } else if (pruned.rule == rule.name) {
                count.by_other += pruned.count;
            }
        }
    }
    if (compiled.reads_code()) {  // asked after compiling, and so in no tally
        count.by_this += static_cast<std::uint64_t>(
            std::count_if(ranking.pruned.begin(), ranking.pruned.end(), [&](const Record* record) { return !keeps(compiled, *record); }));
    }
    return count;
}

RuleLoss judge(const Rule& rule, const CompiledRule& compiled, const ProblemRanking& ranking) {
    std::vector<const Standing*> taken;
    std::vector<const Standing*> kept;
    for (const Standing& standing : ranking.standings) {
        (keeps(compiled, *standing.record) ? kept : taken).push_back(&standing);
    }
    RuleLoss loss;
    const Unmeasured unmeasured = unmeasured_by(rule, compiled, ranking);
    loss.unmeasured = unmeasured.by_this > 0 ? unmeasured.by_this : unmeasured.by_other;
    loss.taken = taken.size();
    loss.best_taken = best_standing(taken);
    loss.best_kept = best_standing(kept);
    loss.finding = unmeasured.by_this > 0    ? RuleFinding::applied
                   : taken.empty()           ? RuleFinding::takes_nothing
                   : unmeasured.by_other > 0 ? RuleFinding::changed
                   : !kept.empty()           ? RuleFinding::judged
                   : rule.keep_all_if_none   ? RuleFinding::lifted
                                             : RuleFinding::leaves_nothing;
    return loss;
}

/// Loss and ranking of what was judged, in one group; empty: it was not judged.
using Judged = std::vector<std::pair<const ProblemRanking*, std::optional<double>>>;

LossGroup group_of(const Judged& judged) {
    LossGroup group;
    group.problems = judged.size();
    double sum = 0;
    for (const auto& [ranking, loss] : judged) {
        if (!loss) {
            continue;
        }
        ++group.judged;
        sum += std::log1p(*loss);
        if (group.worst_on == nullptr || *loss > group.worst) {
            group.worst = *loss;
            group.worst_on = ranking;
        }
    }
    group.mean = group.judged > 0 ? std::expm1(sum / static_cast<double>(group.judged)) : 0;
    return group;
}

using OpMode = std::pair<Op, Mode>;

OpMode op_mode(const ProblemRanking& ranking) {
    return {ranking.problem().operation.op, ranking.problem().operation.mode};
}

std::vector<OpMode> op_modes(const std::vector<ProblemRanking>& rankings) {
    std::vector<OpMode> out;
    out.reserve(rankings.size());
    for (const ProblemRanking& ranking : rankings) {
        out.push_back(op_mode(ranking));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

/// A group for each op and mode, then one of all where there are several. `make` gets the problems of a group.
template <typename Group>
std::vector<Group> grouped(const Audit& audit, const std::function<Group(const std::vector<std::size_t>&)>& make,
                           const std::function<LossGroup&(Group&)>& loss) {
    std::vector<Group> groups;
    const std::vector<OpMode> keys = op_modes(audit.rankings);
    std::vector<std::size_t> all(audit.rankings.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = i;
    }
    for (const OpMode& key : keys) {
        std::vector<std::size_t> members;
        std::copy_if(all.begin(), all.end(), std::back_inserter(members), [&](std::size_t i) { return op_mode(audit.rankings[i]) == key; });
        Group& group = groups.emplace_back(make(members));
        loss(group).op = op_names.name(key.first);
        loss(group).mode = mode_names.name(key.second);
    }
    if (keys.size() > 1) {
        groups.push_back(make(all));
    }
    return groups;
}

std::vector<LossGroup> heuristic_groups(const Audit& audit, std::size_t heuristic) {
    return grouped<LossGroup>(
        audit,
        [&](const std::vector<std::size_t>& members) {
            Judged judged;
            for (const std::size_t i : members) {
                const Standing* best = audit.problems[i].heuristics[heuristic].best;
                judged.emplace_back(&audit.rankings[i], best != nullptr ? std::optional(best->loss()) : std::nullopt);
            }
            return group_of(judged);
        },
        [](LossGroup& group) -> LossGroup& { return group; });
}

std::vector<RuleGroup> rule_groups(const Audit& audit, std::size_t rule) {
    return grouped<RuleGroup>(
        audit,
        [&](const std::vector<std::size_t>& members) {
            RuleGroup group;
            Judged judged;
            for (const std::size_t i : members) {
                const RuleLoss& loss = audit.problems[i].rules[rule];
                group.applied += loss.finding == RuleFinding::applied ? 1U : 0U;
                group.changed += loss.finding == RuleFinding::changed ? 1U : 0U;
                group.lifted += loss.finding == RuleFinding::lifted ? 1U : 0U;
                group.takes_nothing += loss.finding == RuleFinding::takes_nothing ? 1U : 0U;
                group.leaves_nothing += loss.finding == RuleFinding::leaves_nothing ? 1U : 0U;
                judged.emplace_back(&audit.rankings[i],
                                    loss.finding == RuleFinding::judged ? std::optional(loss.best_kept->loss()) : std::nullopt);
            }
            group.loss = group_of(judged);
            return group;
        },
        [](RuleGroup& group) -> LossGroup& { return group.loss; });
}

}  // namespace

HeuristicLoss judge(const ThumbRule& heuristic, const ProblemRanking& ranking) {
    const ThumbRule::Obeys obeys = heuristic.on(ranking.problem(), ranking.device());
    std::vector<const Standing*> obeying;
    for (const Standing& standing : ranking.standings) {
        if (obeys(*standing.record->candidate.configuration())) {
            obeying.push_back(&standing);
        }
    }
    return {obeying.size(), best_standing(obeying)};
}

std::vector<Rule> default_audit_rules() {
    Rule te = default_threads_per_row_rule();
    te.name = "te_threads_per_row";
    std::vector<Rule> rules{te};
    const SearchSpace space = load_space("default");
    rules.insert(rules.end(), space.rules.begin(), space.rules.end());
    return rules;
}

Audit audit(std::span<const Results> runs, std::vector<ThumbRule> heuristics, std::vector<Rule> rules) {
    Audit out;
    for (const Results& run : runs) {
        const std::vector<ProblemRanking> rankings = problem_rankings(run, Whose::own);
        out.rankings.insert(out.rankings.end(), rankings.begin(), rankings.end());
    }
    if (out.rankings.empty()) {
        throw InputError("nothing was measured in these results: there is no best to judge by");
    }
    out.heuristics = std::move(heuristics);
    out.rules = std::move(rules);
    for (const ProblemRanking& ranking : out.rankings) {
        ProblemAudit& problem = out.problems.emplace_back();
        problem.ranking = &ranking;
        for (const ThumbRule& heuristic : out.heuristics) {
            problem.heuristics.push_back(judge(heuristic, ranking));
        }
        problem.rules.resize(out.rules.size());
    }
    on_all_cores(out.rules.size(), [&](std::size_t rule) {
        const ProblemRanking& first = out.rankings.front();
        CompiledRule compiled(out.rules[rule], first.problem(), first.device());
        for (ProblemAudit& problem : out.problems) {
            compiled.set(problem.ranking->problem(), problem.ranking->device());
            problem.rules[rule] = judge(out.rules[rule], compiled, *problem.ranking);
        }
    });
    for (std::size_t i = 0; i < out.heuristics.size(); ++i) {
        out.heuristic_groups.push_back(heuristic_groups(out, i));
    }
    for (std::size_t i = 0; i < out.rules.size(); ++i) {
        out.rule_groups.push_back(rule_groups(out, i));
    }
    return out;
}

}  // namespace normtune
