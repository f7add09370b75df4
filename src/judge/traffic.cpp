#include "judge/traffic.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "judge/side_by_side.h"
#include "support/error.h"
#include "support/pattern.h"

namespace normtune {
namespace {

bool is_chosen(const std::string& model, const std::vector<std::string>& patterns) {
    return patterns.empty() ||
           std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) { return matches_pattern(pattern, model); });
}

LossOn by_prescription(std::size_t prescription) {
    return [prescription](const ShapeLosses& shape) { return shape.losses[prescription]; };
}

/// Times of one site, over the batches that can be judged.
struct SiteSums {
    double us = 0;
    double best_us = 0;
    double ladder_us = 0;
    double tokens = 0;
    double all_best_us = 0;  // of what is not judged, too
};

void add(ExpectedTime& out, const SiteSums& sums) {
    if (sums.tokens > 0) {
        out.us_per_token += sums.us / sums.tokens;
        out.best_us_per_token += sums.best_us / sums.tokens;
        out.ladder_us_per_token += sums.ladder_us / sums.tokens;
    }
}

SiteSums sums_of(const TrafficSite& site, const TokenCounts& counts, const Launcher& launcher, const Launcher& ladder) {
    SiteSums sums;
    for (const auto& [tokens, count] : counts.batches) {
        if (!site.covers(tokens)) {
            continue;
        }
        const TrafficPlace place = place_of(site, tokens);
        const auto batches = static_cast<double>(count);
        const std::int64_t rows = tokens * site.rows_per_token;
        sums.all_best_us += batches * place.best_us();
        const std::optional<double> us = time_at(place, launcher(rows, site.cols));
        const std::optional<double> ladder_us = time_at(place, ladder(rows, site.cols));
        if (us && ladder_us) {
            sums.us += batches * *us;
            sums.ladder_us += batches * *ladder_us;
            sums.best_us += batches * place.best_us();
            sums.tokens += batches * static_cast<double>(tokens);
        }
    }
    return sums;
}

void count_batches(SiteTraffic& out, const TokenCounts& counts) {
    for (const auto& [tokens, count] : counts.batches) {
        const TrafficSite& site = out.site;
        if (!site.covers(tokens)) {
            (tokens < site.points.front().tokens ? out.below : out.above) += count;
        } else {
            const TrafficPlace place = place_of(site, tokens);
            (place.below == place.above ? out.measured : out.between) += count;
        }
    }
}

InterpolationCheck check_interpolation(const std::vector<SiteTraffic>& sites) {
    InterpolationCheck out;
    double sum = 0;
    for (const SiteTraffic& traffic : sites) {
        const std::vector<TrafficSite::Point>& points = traffic.site.points;
        for (std::size_t i = 1; i + 1 < points.size(); ++i) {
            const double share = static_cast<double>(points[i].tokens - points[i - 1].tokens) /
                                 static_cast<double>(points[i + 1].tokens - points[i - 1].tokens);
            const double error = std::abs(TrafficPlace{&points[i - 1], &points[i + 1], share}.best_us() / points[i].best_us - 1);
            sum += error;
            ++out.points;
            if (out.worst_on.empty() || error > out.worst) {
                out.worst = error;
                out.worst_on = fmt::format("{} tokens of {}", points[i].tokens, traffic.site.name());
            }
        }
    }
    out.mean = out.points > 0 ? sum / static_cast<double>(out.points) : 0;
    return out;
}

/// Token counts in the middle of equal parts of the time that is interpolated, and the ends of what lies outside.
std::vector<std::int64_t> worth_measuring(const std::vector<SiteTraffic>& sites, const TokenCounts& counts) {
    std::map<std::int64_t, double> interpolated;
    std::set<std::int64_t> below;
    std::set<std::int64_t> above;
    double all = 0;
    for (const auto& [tokens, count] : counts.batches) {
        for (const SiteTraffic& traffic : sites) {
            if (!traffic.site.covers(tokens)) {
                (tokens < traffic.site.points.front().tokens ? below : above).insert(tokens);
                continue;
            }
            const TrafficPlace place = place_of(traffic.site, tokens);
            if (place.below != place.above) {
                interpolated[tokens] += static_cast<double>(count) * place.best_us();
                all += static_cast<double>(count) * place.best_us();
            }
        }
    }
    std::set<std::int64_t> out;
    constexpr int parts = 4;
    double sum = 0;
    int part = 0;
    for (const auto& [tokens, us] : interpolated) {
        for (sum += us; part < parts && sum >= all * (part + 0.5) / parts; ++part) {
            out.insert(tokens);
        }
    }
    if (!below.empty()) {
        out.insert(*below.begin());
    }
    if (!above.empty()) {
        out.insert(*above.rbegin());
    }
    return {out.begin(), out.end()};
}

/// How much of the ladder's time rests on each configuration on each shape, in µs of the winner there a token.
using Weights = std::map<std::pair<const ShapeLosses*, std::size_t>, double>;

void add_weights(Weights& weights, const TrafficPlace& place, std::size_t prescription, double batches_per_token) {
    const bool below = place.below->shape->losses[prescription] != not_measured;
    const bool above = place.above->shape->losses[prescription] != not_measured;
    const double below_us = (1 - place.weight_above) * place.below->best_us * batches_per_token;
    const double above_us = place.weight_above * place.above->best_us * batches_per_token;
    if (below) {
        weights[{place.below->shape, prescription}] += above ? below_us : below_us + above_us;
    }
    if (above) {
        weights[{place.above->shape, prescription}] += below ? above_us : below_us + above_us;
    }
}

}  // namespace

TrafficPlace place_of(const TrafficSite& site, std::int64_t tokens) {
    const auto above = std::lower_bound(site.points.begin(), site.points.end(), tokens,
                                        [](const TrafficSite::Point& point, std::int64_t wanted) { return point.tokens < wanted; });
    if (above->tokens == tokens) {
        return {&*above, &*above, 0};
    }
    const auto below = above - 1;
    return {&*below, &*above, static_cast<double>(tokens - below->tokens) / static_cast<double>(above->tokens - below->tokens)};
}

std::optional<double> time_at(const TrafficPlace& place, const LossOn& loss_on) {
    const double below = loss_on(*place.below->shape);
    if (place.below == place.above) {
        return below == not_measured ? std::nullopt : std::optional(place.below->best_us * (1 + below));
    }
    const double above = loss_on(*place.above->shape);
    if (below == not_measured && above == not_measured) {
        return std::nullopt;
    }
    return (1 - place.weight_above) * place.below->best_us * (1 + (below == not_measured ? above : below)) +
           place.weight_above * place.above->best_us * (1 + (above == not_measured ? below : above));
}

std::vector<TrafficSite> traffic_sites(const std::vector<const std::vector<ShapeLosses>*>& shapes, const std::vector<std::string>& models) {
    struct Newest {
        TrafficSite::Point point;
        std::string_view started;
    };
    std::map<std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t>, std::map<std::int64_t, Newest>> found;
    for (const std::vector<ShapeLosses>* list : shapes) {
        for (const ShapeLosses& shape : *list) {
            for (const ProblemRanking* ranking : shape.rankings) {
                const Problem& problem = ranking->problem();
                for (const Use& use : problem.uses) {
                    if (use.tokens > 0 && problem.shape.rows % use.tokens == 0 && is_chosen(use.model, models)) {
                        Newest& newest =
                            found[{use.model, use.site, shape.cols, problem.shape.row_stride, problem.shape.rows / use.tokens}][use.tokens];
                        const std::string_view started = ranking->results->environment.started;
                        if (newest.point.shape == nullptr || started >= newest.started) {
                            newest = {{use.tokens, &shape, time_of(*ranking->winner)}, started};
                        }
                    }
                }
            }
        }
    }
    std::vector<TrafficSite> out;
    for (const auto& [key, points] : found) {
        TrafficSite& site = out.emplace_back();
        std::tie(site.model, site.site, site.cols, site.row_stride, site.rows_per_token) = key;
        for (const auto& [tokens, newest] : points) {
            site.points.push_back(newest.point);
        }
    }
    return out;
}

double TrafficFit::share(std::int64_t SiteTraffic::*part) const {
    double of = 0;
    double all = 0;
    for (const SiteTraffic& site : sites) {
        of += static_cast<double>(site.*part);
        all += static_cast<double>(site.measured + site.between + site.below + site.above);
    }
    return of / all;
}

double TrafficFit::tokens_left_out() const {
    double of = 0;
    double all = 0;
    for (const SiteTraffic& site : sites) {
        for (const auto& [batch, count] : counts.batches) {
            const double there = static_cast<double>(batch) * static_cast<double>(count);
            all += there;
            of += site.site.covers(batch) ? 0 : there;
        }
    }
    return of / all;
}

ExpectedTime expected_time(const std::vector<TrafficSite>& sites, const TokenCounts& counts, const Launcher& launcher,
                           const Launcher& ladder) {
    ExpectedTime out;
    double judged = 0;
    double all = 0;
    for (const TrafficSite& site : sites) {
        const SiteSums sums = sums_of(site, counts, launcher, ladder);
        add(out, sums);
        judged += sums.best_us;
        all += sums.all_best_us;
    }
    out.judged = all > 0 ? judged / all : 0;
    return out;
}

TrafficFit traffic_over(std::vector<TrafficSite> sites, const TokenCounts& counts, const std::string& operation,
                        const std::vector<std::string>& models) {
    if (sites.empty()) {
        throw InputError(models.empty()
                             ? fmt::format("{}: these results do not say at how many tokens a model's sites have their shapes, which "
                                           "--traffic needs; results.json of a sweep over --shapes does",
                                           operation)
                             : fmt::format("{}: no site of such a model (--model {}) was measured", operation, fmt::join(models, ",")));
    }
    TrafficFit out;
    out.counts = counts;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = 0;
    for (TrafficSite& site : sites) {
        least = std::min(least, site.points.front().tokens);
        most = std::max(most, site.points.back().tokens);
        SiteTraffic traffic;
        traffic.site = std::move(site);
        count_batches(traffic, counts);
        if (traffic.measured + traffic.between > 0) {
            out.sites.push_back(std::move(traffic));
        } else {
            out.uncovered.push_back(traffic.site.name());
        }
    }
    if (out.sites.empty()) {
        const auto range = [](std::int64_t from, std::int64_t to) {
            return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
        };
        throw InputError(
            fmt::format("{}: the batches of {} have {} tokens, and what was measured has {}; sweep with --tokens that enclose "
                        "the traffic's",
                        operation, counts.file, range(counts.batches.begin()->first, counts.batches.rbegin()->first), range(least, most)));
    }
    out.check = check_interpolation(out.sites);
    out.measure_next = worth_measuring(out.sites, counts);
    return out;
}

void judge_ladder(TrafficFit& traffic, const Ladder& ladder) {
    Weights weights;
    double judged = 0;
    double all = 0;
    for (SiteTraffic& of_site : traffic.sites) {
        const TrafficSite& site = of_site.site;
        const auto loss_on = [&](std::int64_t rows, std::int64_t cols) { return by_prescription(ladder.prescription(rows, cols)); };
        const SiteSums sums = sums_of(site, traffic.counts, loss_on, loss_on);
        add(of_site.ladder, sums);
        add(traffic.ladder, sums);
        of_site.ladder.judged = sums.best_us / sums.all_best_us;
        judged += sums.best_us;
        all += sums.all_best_us;
        for (const auto& [tokens, count] : traffic.counts.batches) {
            if (!site.covers(tokens)) {
                continue;
            }
            const TrafficPlace place = place_of(site, tokens);
            const std::size_t prescription = ladder.prescription(tokens * site.rows_per_token, site.cols);
            if (const std::optional<double> us = time_at(place, by_prescription(prescription))) {
                add_weights(weights, place, prescription, static_cast<double>(count) / sums.tokens);
                const double loss = *us / place.best_us() - 1;
                if (of_site.worst_tokens == 0 || loss > of_site.worst) {
                    of_site.worst = loss;
                    of_site.worst_tokens = tokens;
                }
            }
        }
    }
    traffic.ladder.judged = judged / all;
    double variance = 0;
    for (const auto& [where, us] : weights) {
        traffic.rests_on.push_back(where);
        const double half = us * where.first->half_widths[where.second];
        variance += half * half;
    }
    traffic.half_width = judged > 0 ? std::sqrt(variance) / traffic.ladder.best_us_per_token : 0;
}

}  // namespace normtune
