#include "report/winners.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "judge/thumb_rule.h"

namespace normtune {
namespace {

/// `own`: the problem's ranking of normtune's own alone, among which heuristics choose; null: nothing of its own was measured.
Winner winner_of(const ProblemRanking& ranking, const ProblemRanking* own) {
    Winner winner;
    winner.record = ranking.winner;
    winner.stored = ranking.plan != nullptr && ranking.plan->stored();
    winner.measured = ranking.standings.size() + (winner.stored ? *ranking.plan->taken_by(stored_rule) : 0);
    for (const Standing& standing : ranking.standings) {
        winner.tied += standing.record != ranking.winner && standing.record->measurement->tied ? 1 : 0;
        winner.over_worst = std::max(winner.over_worst, standing.ratio);
    }
    for (const ThumbRule& heuristic : named_thumb_rules()) {
        const Standing* const best = own != nullptr ? heuristic.obeying(*own).best : nullptr;
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
    const std::vector<ProblemRanking> rankings = problem_rankings(results, whose);
    const bool others =
        std::ranges::any_of(results.records, [](const Record& record) { return record.candidate.configuration() == nullptr; });
    const std::vector<ProblemRanking> own_rankings = others ? problem_rankings(results, Whose::own) : std::vector<ProblemRanking>();
    std::unordered_map<std::string, const ProblemRanking*> own;
    for (const ProblemRanking& ranking : others ? own_rankings : rankings) {
        own.emplace(ranking.problem().key(), &ranking);
    }
    std::vector<Winner> winners;
    for (const ProblemRanking& ranking : rankings) {
        const std::string key = ranking.problem().key();
        if (ranked.contains(key) == wanted) {
            const auto found = own.find(key);
            winners.push_back(winner_of(ranking, found == own.end() ? nullptr : found->second));
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
