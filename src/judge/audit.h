// What rules of thumb and prune rules cost, by what was measured. Pure: no device, no clock, no files. The method: docs/audit.md.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "judge/loss_group.h"
#include "judge/problem_ranking.h"
#include "judge/thumb_rule.h"
#include "space/space.h"

namespace normtune {

/// What the records can say of a prune rule on a problem.
enum class RuleFinding {
    applied,        // the sweep itself pruned by it: what it took has no time
    changed,        // the sweep pruned by another rule of its name: what this one keeps may have no time
    lifted,         // keep_all_if_none: it would leave nothing of what was measured, so it takes nothing
    takes_nothing,  // every measured configuration passes it
    leaves_nothing,
    judged
};
inline constexpr NameTable<RuleFinding, 6> rule_finding_names{
    {"applied", "changed", "lifted", "takes_nothing", "leaves_nothing", "judged"}};

struct RuleLoss {
    RuleFinding finding = RuleFinding::takes_nothing;
    std::uint64_t unmeasured = 0;          // applied, changed: configurations that it took from the sweep
    std::size_t taken = 0;                 // measured configurations that it would have taken away
    const Standing* best_taken = nullptr;  // the fastest of them
    const Standing* best_kept = nullptr;   // the fastest that it leaves; its loss is the rule's
};

struct ProblemAudit {
    const ProblemRanking* ranking = nullptr;
    std::vector<Obeying> heuristics;  // as Audit::heuristics
    std::vector<RuleLoss> rules;      // as Audit::rules
};

struct RuleGroup : LossGroup {
    std::array<std::size_t, rule_finding_names.names.size()> findings{};
    std::size_t count(RuleFinding finding) const { return findings[static_cast<std::size_t>(finding)]; }
};

struct Audit {
    Audit() = default;
    Audit(Audit&&) noexcept = default;  // its parts point at one another: it is moved, never copied
    Audit& operator=(Audit&&) noexcept = default;

    std::vector<ProblemRanking> rankings;
    std::size_t repeats = 0;  // as CountedRankings::repeats
    std::vector<ThumbRule> heuristics;
    std::vector<Rule> rules;
    std::vector<ProblemAudit> problems;                    // one a ranking
    std::vector<std::vector<LossGroup>> heuristic_groups;  // of each heuristic: by op and mode, then all
    std::vector<std::vector<RuleGroup>> rule_groups;
};

/// The prune rules audited where none are named: TransformerEngine's, as "te_threads_per_row", and those of the default space.
std::vector<Rule> default_audit_rules();

/// Throws InputError where an expression fails on a problem, or nothing was measured. `runs` has to outlive it, and so has `fresh`:
/// problem_ranking.h.
Audit audit(std::span<const Results> runs, std::vector<ThumbRule> heuristics, std::vector<Rule> rules, std::span<const Results> fresh = {});

/// The trials that its losses rest on and that a race dropped.
std::vector<TrialsAgain> wanted_again(const Audit& audit);

}  // namespace normtune
