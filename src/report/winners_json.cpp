#include "judge/nearest_device.h"
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
                       {"limit_ratio", json_if(measurement.limit_ratio > 0, measurement.limit_ratio)},
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

nlohmann::json price_json(const PricedLadder& ladder) {
    const PriceSummary price = ladder.price();
    const auto choice_json = [](const PricedChoice& choice) {
        nlohmann::json out{{"problem", choice.problem}, {"unrestricted", choice.best}, {"taken", nullptr}};
        if (choice.taken != nullptr) {
            const TimeRatio& time = choice.time;
            out.update({{"taken", choice.taken->candidate.identity()},
                        {"loss", time.loss()},
                        {"low", time.low - 1},
                        {"high", time.high - 1},
                        {"dropped", time.dropped}});
        }
        return out;
    };
    return {{"problems", ladder.name},
            {"row_class", ladder.row_class},
            {"compared", ladder.known == Known::by_bits},
            {"mean", json_if(price.judged > 0, price.mean)},
            {"mean_half_width", json_if(price.judged > 0 && std::isfinite(price.mean_half_width()), price.mean_half_width())},
            {"worst", json_if(price.judged > 0, price.worst)},
            {"shapes", json_list(ladder.choices, choice_json)}};
}

nlohmann::json run_json(const Environment& environment, const std::vector<Winner>& winners) {
    return {{"device", to_json(environment.device)}, {"started", environment.started}, {"winners", json_list(winners, winner_json)}};
}

nlohmann::json proposal_json(const Proposal& proposal) {
    return {{"arch", proposal.arch},
            {"measured", proposal.measured},
            {"device", to_json(proposal.nearest)},
            {"known", proposal.known.has_value()},
            {"replaced", proposal.replaced},
            {"of_others", proposal.of_others},
            {"left_out", proposal.empty},
            {"elsewhere", json_list(proposal.elsewhere,
                                    [](const LossElsewhere& other) {
                                        return nlohmann::json{{"device", to_json(other.device)},
                                                              {"judged", other.judged},
                                                              {"both", other.both},
                                                              {"mean_loss", other.mean},
                                                              {"worst_loss", other.worst}};
                                    })},
            {"text", proposal.text()}};
}

}  // namespace

std::string winners_json(std::span<const Results> runs, const Proposal* proposal, std::span<const PricedLadder> prices) {
    nlohmann::json members{{"runs", json_list(runs, [](const Results& run) { return run_json(run.environment, find_winners(run)); })}};
    if (proposal != nullptr) {
        members["for"] = proposal_json(*proposal);
    }
    if (!prices.empty()) {
        members["prices"] = json_list(prices, price_json);
    }
    return json_document(winners_schema_version, std::move(members));
}

std::string winners_json(const Environment& environment, const std::vector<Winner>& winners) {
    return json_document(winners_schema_version, {{"runs", nlohmann::json::array({run_json(environment, winners)})}});
}

}  // namespace normtune
