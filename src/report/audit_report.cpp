#include "report/audit_report.h"
#include "support/plural.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace normtune {
namespace {

constexpr std::string_view heuristics_note =
    "The loss of the best measured configuration that obeys the heuristic against the best of the problem, an estimate; ±: half of its "
    "95% interval, in percentage points. What the heuristic leaves open is at its best on every problem, so a launcher loses this "
    "much or more. -: no measured configuration obeys it. mean: geometric.\n";

constexpr std::string_view rules_note =
    "judged: problems where it would have taken measured configurations. The loss is that of the best measured one "
    "that it leaves: less, if what it leaves was not all measured. lifted: it would leave nothing measured, so it takes "
    "nothing. takes none: all that was measured passes it.\n";

std::string group_name(const LossGroup& group) {
    return group.op.empty() ? "all" : fmt::format("{} {}", group.op, group.mode);
}

std::string worst_on(const LossGroup& group) {
    return group.worst <= 0 ? "" : group.worst_on->problem().key();
}

Section by_problem(const Audit& audit) {
    Section section{"Heuristics, by problem", Table("problem|>measured|>best us"), ""};
    for (const ThumbRule& heuristic : audit.heuristics) {
        section.table.add_column(heuristic.name(), Align::right);
    }
    for (const ProblemAudit& problem : audit.problems) {
        std::vector<std::string> cells{problem.ranking->problem().key(), grouped(problem.ranking->standings.size()),
                                       three_digits(problem.ranking->winner->measurement->p50_us)};
        for (const Obeying& obeying : problem.heuristics) {
            cells.push_back(obeying.best != nullptr ? loss_text(*obeying.best) : "-");
        }
        section.table.add(std::move(cells));
    }
    return section;
}

Section heuristics_in_all(const Audit& audit) {
    Section section{"Heuristics, by op and mode", Table("heuristic|problems|>obeyed on|>mean loss|>worst|on"),
                    std::string(heuristics_note)};
    for (std::size_t i = 0; i < audit.heuristics.size(); ++i) {
        for (const LossGroup& group : audit.heuristic_groups[i]) {
            section.table.add(
                {audit.heuristics[i].name(), group_name(group), judged_text(group), mean_text(group), worst_text(group), worst_on(group)});
        }
    }
    return section;
}

/// "gpu_even (96/96), …": rules by how many problems they have something in common on.
std::string named(const Audit& audit, RuleFinding finding) {
    std::string out;
    for (std::size_t i = 0; i < audit.rules.size(); ++i) {
        const RuleGroup& all = audit.rule_groups[i].back();
        if (all.count(finding) > 0) {
            out += fmt::format("{}{} ({}/{})", out.empty() ? "" : ", ", audit.rules[i].name, all.count(finding), all.places);
        }
    }
    return out;
}

std::string rules_without_verdict(const Audit& audit) {
    std::string out;
    const auto add = [&](std::string_view what, RuleFinding finding) {
        const std::string rules = named(audit, finding);
        out += rules.empty() ? "" : fmt::format("{}: {}.\n", what, rules);
    };
    add("The sweep had pruned by these, so that what they took has no time and nothing can be said, on", RuleFinding::applied);
    add("It had pruned by other rules of these names, so that what they leave may have no time, on", RuleFinding::changed);
    add("These leave nothing that was measured, on", RuleFinding::leaves_nothing);
    std::vector<std::string> idle;
    for (std::size_t i = 0; i < audit.rules.size(); ++i) {
        const RuleGroup& all = audit.rule_groups[i].back();
        if (all.count(RuleFinding::takes_nothing) == all.places) {
            idle.push_back(audit.rules[i].name);
        }
    }
    if (!idle.empty()) {
        out += fmt::format("These take nothing of what was measured, on any problem: {}.\n", fmt::join(idle, ", "));
    }
    return out;
}

Section rules_in_all(const Audit& audit) {
    Section section{"Prune rules, by op and mode", Table("rule|problems|>judged|>lifted|>takes none|>mean loss|>worst|on"), ""};
    for (std::size_t i = 0; i < audit.rules.size(); ++i) {
        for (const RuleGroup& group : audit.rule_groups[i]) {
            if (group.judged + group.count(RuleFinding::lifted) > 0) {
                section.table.add({audit.rules[i].name, group_name(group), judged_text(group), grouped(group.count(RuleFinding::lifted)),
                                   grouped(group.count(RuleFinding::takes_nothing)), mean_text(group), worst_text(group), worst_on(group)});
            }
        }
    }
    section.note = section.table.empty() ? "" : std::string(rules_note);
    section.note += rules_without_verdict(audit);
    const bool no_tallies =
        std::any_of(audit.rankings.begin(), audit.rankings.end(), [](const ProblemRanking& ranking) { return ranking.plan == nullptr; });
    if (no_tallies) {
        section.note +=
            "Some of these results do not say what their sweeps pruned (results.csv): where a rule takes none there, "
            "the sweep may have pruned by it.\n";
    }
    return section;
}

/// The problems on which a rule costs something, the dearest first. What is small and may be nothing is left out.
Section rules_that_cost(const Audit& audit) {
    constexpr double least_loss = 0.005;
    struct Cost {
        const Rule* rule;
        const ProblemRanking* ranking;
        const RuleLoss* loss;
    };
    std::vector<Cost> costs;
    for (const ProblemAudit& problem : audit.problems) {
        for (std::size_t i = 0; i < audit.rules.size(); ++i) {
            const RuleLoss& loss = problem.rules[i];
            if (loss.finding == RuleFinding::judged && (loss.best_kept->low > 1 || loss.best_kept->loss() >= least_loss)) {
                costs.push_back({&audit.rules[i], problem.ranking, &loss});
            }
        }
    }
    std::stable_sort(costs.begin(), costs.end(),
                     [](const Cost& a, const Cost& b) { return a.loss->best_kept->loss() > b.loss->best_kept->loss(); });
    Section section{"Prune rules that would have lost the best", Table("rule|problem|>takes|>loss|best|best left"), ""};
    for (const Cost& cost : costs) {
        section.table.add({cost.rule->name, cost.ranking->problem().key(),
                           fmt::format("{}/{}", cost.loss->taken, cost.ranking->standings.size()), loss_text(*cost.loss->best_kept),
                           cost.ranking->winner->candidate.key(), cost.loss->best_kept->record->candidate.key()});
    }
    section.note = costs.empty() ? "None, where it can be judged: no loss is 0.5% or more, or surely above 0.\n"
                                 : "Losses below 0.5% whose interval reaches 0 are left out.\n";
    return section;
}

std::size_t measured(const Audit& audit) {
    return std::accumulate(audit.rankings.begin(), audit.rankings.end(), std::size_t{0},
                           [](std::size_t sum, const ProblemRanking& ranking) { return sum + ranking.standings.size(); });
}

/// Sweeps that did not measure all that their plan kept: what was left out may have been the best.
std::string incomplete(const Audit& audit) {
    const auto left_out = std::count_if(audit.rankings.begin(), audit.rankings.end(), [](const ProblemRanking& ranking) {
        return ranking.plan != nullptr && ranking.standings.size() + ranking.pruned.size() + ranking.of_others < ranking.plan->kept;
    });
    return left_out == 0 ? ""
                         : fmt::format(
                               "On {} of {} problems fewer configurations were measured than the plan kept "
                               "(they failed, or the sweep was not exhaustive).\n",
                               left_out, audit.rankings.size());
}

/// Losses that rest on a race's few rounds.
std::string dropped(const Audit& audit) {
    std::size_t trials = 0;
    for (const TrialsAgain& again : wanted_again(audit)) {
        trials += again.configurations.size() - 1;
    }
    return trials == 0 ? ""
                       : fmt::format("Of {} {} that losses rest on a race took few rounds: --measure measures {} again.\n", grouped(trials),
                                     plural(trials, "trial"), trials == 1 ? "it" : "them");
}

}  // namespace

std::vector<Section> audit_sections(std::span<const Audit> audits) {
    std::vector<Section> sections;
    for (const Audit& audit : audits) {
        const DeviceInfo& device = audit.rankings.front().device();
        sections.push_back(
            {fmt::format("{} ({}, {}): {} {}, {} {} measured", device.name, device.arch,
                         counted(static_cast<std::uint64_t>(device.compute_units), "compute unit"), grouped(audit.rankings.size()),
                         plural(audit.rankings.size(), "problem"), grouped(measured(audit)), plural(measured(audit), "configuration")),
             Table(), incomplete(audit) + dropped(audit)});
        if (!audit.heuristics.empty()) {
            sections.push_back(heuristics_in_all(audit));
        }
        sections.push_back(rules_that_cost(audit));
        sections.push_back(rules_in_all(audit));
        if (!audit.heuristics.empty()) {
            sections.push_back(by_problem(audit));
        }
    }
    return sections;
}

}  // namespace normtune
