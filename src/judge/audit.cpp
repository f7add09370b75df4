#include "judge/audit.h"

#include <algorithm>
#include <map>
#include <optional>

#include "space/rules.h"
#include "support/error.h"
#include "support/parallel.h"

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
    std::vector<bool> answers;  // of a rule that takes a while to ask, in the order of the trials
    const Obeying kept = ranking.obeying([&](const Record& record) {
        answers.push_back(keeps(compiled, record));
        return answers.back();
    });
    std::size_t next = 0;
    const Obeying taken = ranking.obeying([&](const Record&) { return !answers[next++]; });
    RuleLoss loss;
    const Unmeasured unmeasured = unmeasured_by(rule, compiled, ranking);
    loss.unmeasured = unmeasured.by_this > 0 ? unmeasured.by_this : unmeasured.by_other;
    loss.taken = taken.count;
    loss.best_taken = taken.best;
    loss.best_kept = kept.best;
    loss.finding = unmeasured.by_this > 0    ? RuleFinding::applied
                   : taken.count == 0        ? RuleFinding::takes_nothing
                   : unmeasured.by_other > 0 ? RuleFinding::changed
                   : kept.count > 0          ? RuleFinding::judged
                   : rule.keep_all_if_none   ? RuleFinding::lifted
                                             : RuleFinding::leaves_nothing;
    return loss;
}

const ProblemRanking& ranking_of(const ProblemAudit& problem) {
    return *problem.ranking;
}

std::vector<LossGroup> heuristic_groups(const Audit& audit, std::size_t heuristic) {
    return grouped<LossGroup>(audit.problems, ranking_of, [&](LossGroup& group, const ProblemAudit& problem) {
        const Standing* best = problem.heuristics[heuristic].best;
        group.add(*problem.ranking, best != nullptr ? std::optional(best->estimate()) : std::nullopt);
    });
}

std::vector<RuleGroup> rule_groups(const Audit& audit, std::size_t rule) {
    return grouped<RuleGroup>(audit.problems, ranking_of, [&](RuleGroup& group, const ProblemAudit& problem) {
        const RuleLoss& loss = problem.rules[rule];
        ++group.findings[static_cast<std::size_t>(loss.finding)];
        group.add(*problem.ranking, loss.finding == RuleFinding::judged ? std::optional(loss.best_kept->estimate()) : std::nullopt);
    });
}

}  // namespace

std::vector<Rule> default_audit_rules() {
    Rule te = default_threads_per_row_rule();
    te.name = "te_threads_per_row";
    std::vector<Rule> rules{te};
    const SearchSpace space = load_space("default");
    rules.insert(rules.end(), space.rules.begin(), space.rules.end());
    return rules;
}

std::vector<TrialsAgain> wanted_again(const Audit& audit) {
    WantedAgain wanted;
    for (const ProblemAudit& problem : audit.problems) {
        for (const Obeying& heuristic : problem.heuristics) {
            wanted.add(*problem.ranking, heuristic.best);
        }
        for (const RuleLoss& rule : problem.rules) {
            wanted.add(*problem.ranking, rule.finding == RuleFinding::judged ? rule.best_kept : nullptr);
        }
    }
    return wanted.take();
}

Audit audit(std::span<const Results> runs, std::vector<ThumbRule> heuristics, std::vector<Rule> rules, std::span<const Results> fresh) {
    Audit out;
    CountedRankings counted = counted_rankings(runs, Whose::own, fresh);
    out.rankings = std::move(counted.rankings);
    out.repeats = counted.repeats;
    out.heuristics = std::move(heuristics);
    out.rules = std::move(rules);
    for (const ProblemRanking& ranking : out.rankings) {
        ProblemAudit& problem = out.problems.emplace_back();
        problem.ranking = &ranking;
        for (const ThumbRule& heuristic : out.heuristics) {
            problem.heuristics.push_back(heuristic.obeying(ranking));
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
