#include "report/winners.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "problem/heuristics.h"

namespace normtune {
namespace {

bool measured(const Record& record) {
    return record.outcome == Outcome::passed && record.measurement && record.measurement->p50_us > 0;
}

std::vector<Winner::Gain> gains(const Record& best, const std::vector<const Record*>& trials,
                                const DeviceInfo& device) {
    std::vector<Winner::Gain> out;
    for (const Heuristic& heuristic : heuristics()) {
        std::optional<double> fastest_us;
        for (const Record* trial : trials) {
            if (heuristic.chooses(trial->configuration, trial->problem, device)) {
                fastest_us = std::min(fastest_us.value_or(trial->measurement->p50_us), trial->measurement->p50_us);
            }
        }
        out.push_back({std::string(heuristic.name),
                       fastest_us ? std::optional(*fastest_us / best.measurement->p50_us) : std::nullopt});
    }
    return out;
}

Winner winner_of(const Record& best, const std::vector<const Record*>& trials, const DeviceInfo& device) {
    Winner winner;
    winner.record = &best;
    winner.measured = trials.size();
    double slowest_us = best.measurement->p50_us;
    for (const Record* trial : trials) {
        winner.tied += trial != &best && trial->measurement->tied ? 1 : 0;
        slowest_us = std::max(slowest_us, trial->measurement->p50_us);
    }
    winner.over_worst = slowest_us / best.measurement->p50_us;
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
