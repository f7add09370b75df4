#include "report/json_document.h"
#include "report/winners.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

constexpr int winners_schema_version = 1;

nlohmann::json winner_json(const Winner& winner) {
    const Measurement& measurement = *winner.record->measurement;
    nlohmann::json gains = nlohmann::json::object();
    for (const Winner::Gain& gain : winner.over_heuristics) {
        gains[gain.heuristic] = json_if(gain.ratio.has_value(), gain.ratio.value_or(0));
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

nlohmann::json run_json(const Environment& environment, const std::vector<Winner>& winners) {
    return {{"device", to_json(environment.device)}, {"started", environment.started}, {"winners", json_list(winners, winner_json)}};
}

}  // namespace

std::string winners_json(std::span<const Results> runs) {
    return json_document(winners_schema_version,
                         {{"runs", json_list(runs, [](const Results& run) { return run_json(run.environment, find_winners(run)); })}});
}

std::string winners_json(const Environment& environment, const std::vector<Winner>& winners) {
    return json_document(winners_schema_version, {{"runs", nlohmann::json::array({run_json(environment, winners)})}});
}

}  // namespace normtune
