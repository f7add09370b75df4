#include "report/winners.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "judge/thumb_rule.h"

namespace normtune {
namespace {

Winner winner_of(const ProblemRanking& ranking) {
    Winner winner;
    winner.record = ranking.winner;
    winner.stored = ranking.plan != nullptr && ranking.plan->stored();
    winner.measured = ranking.standings.size() + (winner.stored ? *ranking.plan->taken_by(stored_rule) : 0);
    for (const Standing& standing : ranking.standings) {
        winner.tied += standing.record != ranking.winner && standing.record->measurement->tied ? 1 : 0;
        winner.over_worst = std::max(winner.over_worst, standing.ratio);
    }
    for (const ThumbRule& heuristic : named_thumb_rules()) {
        const Standing* const best = heuristic.obeying(ranking).best;
        winner.over_heuristics.push_back({heuristic.name(), best != nullptr ? std::optional(best->ratio) : std::nullopt});
    }
    return winner;
}

/// One a problem that was ranked, or was not.
std::vector<Winner> find(const Results& results, Whose whose, bool wanted) {
    std::unordered_set<std::string> ranked;
    for (const Record& record : results.records) {
        if (record.measurement && record.measurement->rank > 0) {
            ranked.insert(record.problem.key());
        }
    }
    std::vector<Winner> winners;
    for (const ProblemRanking& ranking : problem_rankings(results, whose)) {
        if (ranked.contains(ranking.problem().key()) == wanted) {
            winners.push_back(winner_of(ranking));
        }
    }
    return winners;
}

}  // namespace

std::vector<Winner> find_winners(const Results& results, Whose whose) {
    return find(results, whose, true);
}

std::vector<Winner> find_leaders(const Results& results) {
    return find(results, Whose::all, false);
}

}  // namespace normtune
