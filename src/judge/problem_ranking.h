// The measured candidates of a problem against its winner: what audit, fit and the winners' table rest on. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "judge/loss_summary.h"
#include "store/results.h"

namespace normtune {

/// A time over the winner's, an estimate: of the fresh rounds that both have, in the finals or since, by the mean logarithm of the paired
/// ratios, else of the p50 of their own rounds.
struct TimeRatio {
    double ratio = 1;
    double low = 1;  // 95% interval of the ratio: wide where there are few rounds
    double high = 1;
    bool dropped = false;  // by a race after few rounds, and not measured since

    /// How much slower than the winner it is, by the estimate.
    double loss() const { return ratio - 1; }
    LossEstimate estimate() const { return {loss(), (high - low) / 2}; }
};

struct Standing : TimeRatio {
    const Record* record = nullptr;
};

/// The problem's winner stays the best: another's lesser ratio is noise then. `best`: null: none yet.
bool precedes(const Standing& standing, const Standing* best, const Record* winner);

/// The own configurations that obey a rule.
struct Obeying {
    std::size_t count = 0;
    const Standing* best = nullptr;  // null: none obeys
};

struct ProblemRanking {
    const Results* results = nullptr;
    const PlanSummary* plan = nullptr;  // null: the file has none
    const Record* winner = nullptr;     // the best rank; of what was not ranked: finals first, what no race dropped, the least p50
    std::vector<Standing> standings;    // what passed and was measured, in the order of the records
    std::vector<const Record*> pruned;  // compiled, then taken by a rule: never measured
    std::size_t of_others = 0;          // trials of other providers that are left out

    const Problem& problem() const { return winner->problem; }
    const DeviceInfo& device() const { return results->environment.device; }
    Obeying obeying(const std::function<bool(const Record&)>& obeys) const;
};

/// Of all candidates, or of normtune's own configurations alone: heuristics, rules and ladders speak of no others.
enum class Whose { all, own };

/// One a problem with a measured candidate, in the order of the records. They point into `results`. `fresh`: sweeps that measured
/// some of the trials again, beside the winner in the same rounds; the last one that did holds.
std::vector<ProblemRanking> problem_rankings(const Results& results, Whose whose = Whose::all, std::span<const Results> fresh = {});
std::vector<ProblemRanking> problem_rankings(std::span<const Results> runs, Whose whose,  // one run after the other
                                             std::span<const Results> fresh = {});

/// Of runs of one device, for what counts over problems: of one whose times two runs have (a copy of a file, times from the store of
/// winners) once, as that is one measurement. Throws InputError where nothing was measured.
struct CountedRankings {
    std::vector<ProblemRanking> rankings;
    std::size_t repeats = 0;  // what was left out
};
CountedRankings counted_rankings(std::span<const Results> runs, Whose whose, std::span<const Results> fresh = {});

/// "KEY was measured cold, KEY on data in cache"; empty where all were measured one way.
std::string cold_beside_hot(const std::vector<const Record*>& records);
/// Of all that passed in these runs.
std::string cold_beside_hot(std::span<const Results> runs);

/// Trials of a problem that are to be measured again, the winner first.
struct TrialsAgain {
    Problem problem;
    bool cold = true;
    std::vector<Configuration> configurations;
};

/// Collects the trials whose times rest on few rounds, once each, by problem, cold and hot apart.
class WantedAgain {
public:
    /// Null, and what was not dropped, is none.
    void add(const ProblemRanking& ranking, const Standing* standing);
    std::vector<TrialsAgain> take();

private:
    std::vector<TrialsAgain> wanted_;
};

}  // namespace normtune
