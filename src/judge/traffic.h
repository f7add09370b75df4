// What launchers take over the batches that a server saw: expected time in µs a token. Pure. The method: docs/fit.md, "Traffic".
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/ladder.h"
#include "store/token_counts.h"

namespace normtune {

/// A site of a model over token counts: a batch of t tokens is a launch of t · rows_per_token rows.
struct TrafficSite {
    struct Point {
        std::int64_t tokens = 0;
        const ShapeLosses* shape = nullptr;
        double best_us = 0;  // of the winner there
    };
    std::string model;
    std::string site;
    std::int64_t cols = 0;
    std::int64_t row_stride = 0;
    std::int64_t rows_per_token = 1;
    std::vector<Point> points;  // what was measured, by tokens

    std::string name() const { return model + "/" + site; }
    bool covers(std::int64_t tokens) const { return tokens >= points.front().tokens && tokens <= points.back().tokens; }
};

/// Where a batch lies on a site's points: at one, or between two, over which times are linear in tokens.
struct TrafficPlace {
    const TrafficSite::Point* below = nullptr;
    const TrafficSite::Point* above = nullptr;  // the same where the token count was measured
    double weight_above = 0;

    double best_us() const { return (1 - weight_above) * below->best_us + weight_above * above->best_us; }
};
/// `tokens` is one that the site covers.
TrafficPlace place_of(const TrafficSite& site, std::int64_t tokens);

/// Losses of one rule by shape; not_measured where it says nothing.
using LossOn = std::function<double(const ShapeLosses&)>;
/// What a launcher with these losses takes there. One that was measured on one side alone is taken to lose there what it loses on that
/// side. Empty: it was measured on neither.
std::optional<double> time_at(const TrafficPlace& place, const LossOn& loss_on);

/// The sites of the operation's problems whose model matches one of `models` (empty: all), over the shapes of both lists, in the order of
/// their names. Of several runs of a problem the newest holds.
std::vector<TrafficSite> traffic_sites(const std::vector<const std::vector<ShapeLosses>*>& shapes, const std::vector<std::string>& models);

/// What a launcher takes over all batches that can be judged, as the sum over the sites of their times a token, one launch a site.
struct ExpectedTime {
    double us_per_token = 0;
    double best_us_per_token = 0;    // of the best measured, on the same launches
    double ladder_us_per_token = 0;  // of the ladder, on those
    double judged = 0;               // their share of the best's time over all launches that are covered

    double loss() const { return us_per_token / best_us_per_token - 1; }
    double ladder_loss() const { return ladder_us_per_token / best_us_per_token - 1; }
};

struct SiteTraffic {
    TrafficSite site;
    std::int64_t measured = 0;  // batches whose token count was measured
    std::int64_t between = 0;
    std::int64_t below = 0;  // and those below and above all that was: left out
    std::int64_t above = 0;
    ExpectedTime ladder;
    double worst = 0;  // the ladder's loss, over the batches
    std::int64_t worst_tokens = 0;
};

/// How far off times are that are interpolated: of each measured token count between two others, from these.
struct InterpolationCheck {
    std::size_t points = 0;
    double mean = 0;  // of the absolute relative errors of the winner's time
    double worst = 0;
    std::string worst_on;  // "8192 tokens of Qwen3-8B/hidden"
};

struct TrafficRule {
    std::string name;
    ExpectedTime time;
};

/// The least expected loss of a ladder of so many steps.
struct LossBySteps {
    std::size_t steps = 0;
    double loss = 0;
};

struct TrafficFit {
    TokenCounts counts;
    std::vector<SiteTraffic> sites;  // those with a batch within what was measured
    std::vector<std::string> uncovered;
    ExpectedTime ladder;
    double half_width = 0;  // half the 95% interval of the ladder's loss, as far as measuring goes; infinite: not known
    /// What that rests on: the ladder's configurations, and the shapes that they were measured on.
    std::vector<std::pair<const ShapeLosses*, std::size_t>> rests_on;
    std::vector<TrafficRule> rules;
    std::vector<LossBySteps> by_steps;
    InterpolationCheck check;
    std::vector<std::int64_t> measure_next;  // token counts that would replace the most interpolation

    /// The share of the batches, over `sites`.
    double share(std::int64_t SiteTraffic::*part) const;
    /// Share of all tokens that batches below and above have, over the sites.
    double tokens_left_out() const;
};

/// A launcher that may decide by rows and columns.
using Launcher = std::function<LossOn(std::int64_t rows, std::int64_t cols)>;

/// Over the batches of `sites` that both the launcher and the ladder can be judged on.
ExpectedTime expected_time(const std::vector<TrafficSite>& sites, const TokenCounts& counts, const Launcher& launcher,
                           const Launcher& ladder);

/// What there is to say of a traffic but its ladder. Throws InputError: no site, or no batch lies within what was measured of one.
TrafficFit traffic_over(std::vector<TrafficSite> sites, const TokenCounts& counts, const std::string& operation,
                        const std::vector<std::string>& models);

/// Sets what the ladder takes, by site and in all.
void judge_ladder(TrafficFit& traffic, const Ladder& ladder);

}  // namespace normtune
