#include "report/winners.h"

#include <algorithm>

#include "judge/problem_ranking.h"
#include "space/heuristics.h"

namespace normtune {
namespace {

std::vector<Winner::Gain> gains(const ProblemRanking& ranking) {
    std::vector<Winner::Gain> out;
    for (const Heuristic& heuristic : heuristics()) {
        std::optional<double> least;
        for (const Standing& standing : ranking.standings) {
            const Configuration* own = standing.record->candidate.configuration();
            if (own != nullptr && heuristic.chooses(*own, ranking.problem(), ranking.device())) {
                least = std::min(least.value_or(standing.ratio), standing.ratio);
            }
        }
        out.push_back({std::string(heuristic.name), least});
    }
    return out;
}

Winner winner_of(const ProblemRanking& ranking) {
    Winner winner;
    winner.record = ranking.winner;
    winner.stored = ranking.plan != nullptr && ranking.plan->stored();
    winner.measured = ranking.standings.size() + (winner.stored ? *ranking.plan->taken_by(stored_rule) : 0);
    for (const Standing& standing : ranking.standings) {
        winner.tied += standing.record != ranking.winner && standing.record->measurement->tied ? 1 : 0;
        winner.over_worst = std::max(winner.over_worst, standing.ratio);
    }
    winner.over_heuristics = gains(ranking);
    return winner;
}

}  // namespace

std::vector<Winner> find_winners(const Results& results, Whose whose) {
    std::vector<Winner> winners;
    for (const ProblemRanking& ranking : problem_rankings(results, whose)) {
        if (ranking.winner->measurement->rank > 0) {
            winners.push_back(winner_of(ranking));
        }
    }
    return winners;
}

}  // namespace normtune
