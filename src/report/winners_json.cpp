#include <nlohmann/json.hpp>

#include "report/winners.h"
#include "support/version.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

constexpr int winners_schema_version = 1;

nlohmann::json winner_json(const Winner& winner) {
    const Measurement& measurement = *winner.record->measurement;
    nlohmann::json gains = nlohmann::json::object();
    for (const Winner::Gain& gain : winner.over_heuristics) {
        gains[gain.heuristic] = gain.ratio ? nlohmann::json(*gain.ratio) : nlohmann::json();
    }
    nlohmann::json out{{"problem", to_json(winner.record->problem)},
                       {"p50_us", measurement.p50_us},
                       {"gbps", measurement.gbps},
                       {"limit_ratio", measurement.limit_ratio},
                       {"over_worst", winner.over_worst},
                       {"over_heuristics", std::move(gains)},
                       {"tied", winner.tied},
                       {"measured", winner.measured}};
    add_candidate(out, winner.record->candidate);
    if (winner.stored) {
        out["stored"] = winner.record->timestamp;
    }
    return out;
}

}  // namespace

std::string winners_json(std::span<const Results> runs) {
    nlohmann::json list = nlohmann::json::array();
    for (const Results& run : runs) {
        nlohmann::json winners = nlohmann::json::array();
        for (const Winner& winner : find_winners(run)) {
            winners.push_back(winner_json(winner));
        }
        list.push_back(
            {{"device", to_json(run.environment.device)}, {"started", run.environment.started}, {"winners", std::move(winners)}});
    }
    const nlohmann::json json{{"schema_version", winners_schema_version}, {"normtune_version", version()}, {"runs", std::move(list)}};
    return json.dump(2) + "\n";
}

}  // namespace normtune
