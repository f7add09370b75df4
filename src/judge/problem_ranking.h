// The measured candidates of a problem against its winner: what audit, fit and the winners' table rest on. Pure.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "store/results.h"

namespace normtune {

struct Standing {
    const Record* record = nullptr;
    double ratio = 1;                   // of its time to the winner's: medians of the fresh rounds between finalists, else p50
    bool significantly_slower = false;  // slower than the winner with confidence

    /// How much slower than the winner: 0 where the two cannot be told apart.
    double loss() const { return significantly_slower ? ratio - 1 : 0; }
};

/// The own configurations that obey a rule.
struct Obeying {
    std::size_t count = 0;
    const Standing* fastest = nullptr;  // of the least ratio; null: none obeys
    const Standing* best = nullptr;     // of the least loss, then the least ratio
};

struct ProblemRanking {
    const Results* results = nullptr;
    const PlanSummary* plan = nullptr;  // null: the file has none
    const Record* winner = nullptr;     // the best rank; the least p50 where nothing was ranked
    std::vector<Standing> standings;    // what passed and was measured, in the order of the records
    std::vector<const Record*> pruned;  // compiled, then taken by a rule: never measured
    std::size_t of_others = 0;          // trials of other providers that are left out

    const Problem& problem() const { return winner->problem; }
    const DeviceInfo& device() const { return results->environment.device; }
    Obeying obeying(const std::function<bool(const Record&)>& obeys) const;
};

/// Of all candidates, or of normtune's own configurations alone: heuristics, rules and ladders speak of no others.
enum class Whose { all, own };

/// One a problem with a measured candidate, in the order of the records. They point into `results`.
/// Significantly slower are finalists outside the tie set of their fresh rounds, and others by their rounds, paired with the winner's,
/// at the level that measure/ranking.h gives for as many candidates. Where a file has no rounds (results.csv) its column `tied`
/// decides alone.
std::vector<ProblemRanking> problem_rankings(const Results& results, Whose whose = Whose::all);
std::vector<ProblemRanking> problem_rankings(std::span<const Results> runs, Whose whose);  // one run after the other

}  // namespace normtune
