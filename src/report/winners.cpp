#include "report/winners.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "measure/statistics.h"
#include "problem/heuristics.h"

namespace normtune {
namespace {

bool measured(const Record& record) {
    return record.outcome == Outcome::passed && record.measurement && record.measurement->p50_us > 0;
}

/// How many times the winner's time a trial takes. Finalists were measured afresh side by side: those rounds decide
/// between them, as they do in the ranking, and the p50 of the whole run between others.
double slowdown(const Record& trial, const Record& best) {
    const Measurement& its = *trial.measurement;
    const Measurement& winners = *best.measurement;
    if (its.final_rounds_us.empty() || winners.final_rounds_us.empty()) {
        return its.p50_us / winners.p50_us;
    }
    return median(its.final_rounds_us) / median(winners.final_rounds_us);
}

std::vector<Winner::Gain> gains(const Record& best, const std::vector<const Record*>& trials,
                                const DeviceInfo& device) {
    std::vector<Winner::Gain> out;
    for (const Heuristic& heuristic : heuristics()) {
        std::optional<double> least;
        for (const Record* trial : trials) {
            if (heuristic.chooses(trial->configuration, trial->problem, device)) {
                const double ratio = slowdown(*trial, best);
                least = std::min(least.value_or(ratio), ratio);
            }
        }
        out.push_back({std::string(heuristic.name), least});
    }
    return out;
}

Winner winner_of(const Record& best, const std::vector<const Record*>& trials, const DeviceInfo& device) {
    Winner winner;
    winner.record = &best;
    winner.measured = trials.size();
    for (const Record* trial : trials) {
        winner.tied += trial != &best && trial->measurement->tied ? 1 : 0;
        winner.over_worst = std::max(winner.over_worst, slowdown(*trial, best));
    }
    winner.over_heuristics = gains(best, trials, device);
    return winner;
}

}  // namespace

std::vector<Winner> find_winners(const Results& results) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Record*>> trials_of;
    for (const Record& record : results.records) {
        if (measured(record)) {
            std::vector<const Record*>& trials = trials_of[record.problem.key()];
            if (trials.empty()) {
                order.push_back(record.problem.key());
            }
            trials.push_back(&record);
        }
    }
    std::vector<Winner> winners;
    for (const std::string& key : order) {
        const std::vector<const Record*>& trials = trials_of[key];
        const auto best = std::find_if(trials.begin(), trials.end(),
                                       [](const Record* trial) { return trial->measurement->rank == 1; });
        if (best != trials.end()) {
            winners.push_back(winner_of(**best, trials, results.environment.device));
        }
    }
    return winners;
}

}  // namespace normtune
