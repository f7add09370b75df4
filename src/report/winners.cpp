#include "report/winners.h"

#include <algorithm>

#include "audit/field.h"
#include "problem/heuristics.h"

namespace normtune {
namespace {

std::vector<Winner::Gain> gains(const Field& field) {
    std::vector<Winner::Gain> out;
    for (const Heuristic& heuristic : heuristics()) {
        std::optional<double> least;
        for (const Standing& standing : field.standings) {
            if (heuristic.chooses(standing.record->configuration, field.problem(), field.device())) {
                least = std::min(least.value_or(standing.ratio), standing.ratio);
            }
        }
        out.push_back({std::string(heuristic.name), least});
    }
    return out;
}

Winner winner_of(const Field& field) {
    Winner winner;
    winner.record = field.winner;
    winner.stored = field.plan != nullptr && field.plan->stored();
    winner.measured = field.standings.size() + (winner.stored ? *field.plan->taken_by(stored_rule) : 0);
    for (const Standing& standing : field.standings) {
        winner.tied += standing.record != field.winner && standing.record->measurement->tied ? 1 : 0;
        winner.over_worst = std::max(winner.over_worst, standing.ratio);
    }
    winner.over_heuristics = gains(field);
    return winner;
}

}  // namespace

std::vector<Winner> find_winners(const Results& results) {
    std::vector<Winner> winners;
    for (const Field& field : fields_of(results)) {
        if (field.winner->measurement->rank == 1) {
            winners.push_back(winner_of(field));
        }
    }
    return winners;
}

}  // namespace normtune
