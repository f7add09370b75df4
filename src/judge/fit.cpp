#include "judge/fit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "judge/traffic_ladder.h"
#include "space/reproducibility.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::array<double, 5> other_tolerances{0.005, 0.01, 0.02, 0.05, 0.1};

template <typename T>
bool chosen(const std::vector<T>& list, T value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

struct Group {
    std::string operation;
    std::vector<const ProblemRanking*> rankings;
};

std::vector<Group> group_by_operation(const std::vector<ProblemRanking>& rankings, const FitSettings& settings) {
    std::vector<Group> groups;
    for (const ProblemRanking& ranking : rankings) {
        const Problem& problem = ranking.problem();
        if (!chosen(settings.ops, problem.operation.op) || !chosen(settings.modes, problem.operation.mode)) {
            continue;
        }
        const std::string operation = problem.operation_key();
        const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.operation == operation; });
        (found == groups.end() ? groups.emplace_back(Group{operation, {}}) : *found).rankings.push_back(&ranking);
    }
    return groups;
}

/// What a rule loses on a shape; empty: it cannot be judged there.
using EstimateOn = std::function<std::optional<LossEstimate>(const ShapeLosses&)>;

ShapeSummary summarise(const std::vector<const ShapeLosses*>& shapes, const EstimateOn& estimate_on) {
    ShapeSummary out;
    for (const ShapeLosses* shape : shapes) {
        out.add(*shape, estimate_on(*shape));
    }
    return out;
}

std::optional<LossEstimate> ladder_estimate(const std::optional<Ladder>& ladder, const ShapeLosses& shape) {
    return ladder ? shape.estimate(ladder->prescription(shape.rows, shape.cols)) : std::nullopt;
}

std::vector<const ShapeLosses*> pointers(const std::vector<ShapeLosses>& shapes) {
    std::vector<const ShapeLosses*> out;
    out.reserve(shapes.size());
    for (const ShapeLosses& shape : shapes) {
        out.push_back(&shape);
    }
    return out;
}

/// The most that the best obeying configuration loses on the problems of a shape; empty: none obeys on one of them.
std::optional<LossEstimate> rule_estimate(const ThumbRule& rule, const ShapeLosses& shape) {
    std::optional<LossEstimate> most;
    for (const ProblemRanking* ranking : shape.rankings) {
        const Standing* best = rule.obeying(*ranking).best;
        if (best == nullptr) {
            return std::nullopt;
        }
        most = !most || best->loss() > most->loss ? best->estimate() : most;
    }
    return most;
}

/// The ladder of `settings`, or the best that can be reached.
std::optional<Ladder> best_ladder(const Losses& losses, double tolerance, std::size_t most_steps) {
    std::optional<Ladder> ladder = fit_ladder(losses, tolerance);
    if (ladder && (most_steps == 0 || ladder->steps() <= most_steps)) {
        return ladder;
    }
    const std::optional<double> reachable = least_tolerance(losses, most_steps);
    return reachable ? fit_ladder(losses, *reachable) : std::nullopt;
}

/// Null: they have none of that size.
const ShapeLosses* same_shape(const Losses& losses, const ShapeLosses& shape) {
    const auto found = std::find_if(losses.shapes.begin(), losses.shapes.end(),
                                    [&](const ShapeLosses& other) { return other.rows == shape.rows && other.cols == shape.cols; });
    return found == losses.shapes.end() ? nullptr : &*found;
}

Rival compare_with(const ThumbRule& rule, const Group& group, const Fit& fit, const FitSettings& settings, const BackendTraits& traits) {
    Rival rival;
    rival.name = rule.name();
    rival.decides = rule.decides();
    const Losses all = losses_of(group.rankings, rule.decides(), traits);
    const Losses fitted = all.only([&](const ShapeLosses& shape) { return same_shape(fit.fitted, shape) != nullptr; });
    const std::optional<Ladder> same_axes = fit_ladder(fitted, settings.tolerance);
    const std::vector<ShapeLosses>& judged_on = fit.held_out.shapes.empty() ? fit.fitted.shapes : fit.held_out.shapes;
    const EstimateOn by_rule = [&](const ShapeLosses& shape) { return rule_estimate(rule, shape); };
    const EstimateOn by_same_axes = [&](const ShapeLosses& shape) { return ladder_estimate(same_axes, *same_shape(all, shape)); };
    const EstimateOn by_ladder = [&](const ShapeLosses& shape) { return ladder_estimate(fit.ladder, shape); };
    std::vector<const ShapeLosses*> common;
    for (const ShapeLosses& shape : judged_on) {
        const bool obeyed = by_rule(shape).has_value();
        rival.obeyed += obeyed ? 1U : 0U;
        if (obeyed && by_same_axes(shape) && by_ladder(shape)) {
            common.push_back(&shape);
        }
    }
    if (same_axes) {
        rival.ladder_steps = same_axes->steps();
    }
    rival.rule = summarise(common, by_rule);
    rival.same_axes = summarise(common, by_same_axes);
    rival.ladder = summarise(common, by_ladder);
    return rival;
}

/// The ladder of the least expected time, and what it and the rules of thumb take over the batches that were seen.
void fit_to_traffic(Fit& fit, const FitSettings& settings) {
    const TokenCounts& counts = *settings.traffic;
    const std::vector<TrafficSite> sites = traffic_sites({&fit.fitted.shapes, &fit.held_out.shapes}, settings.models);
    fit.traffic = traffic_over(sites, counts, fit.operation, settings.models);
    const std::vector<TrafficSite> fitted = traffic_sites({&fit.fitted.shapes}, settings.models);
    const std::size_t most_steps = settings.most_steps == 0 ? most_traffic_steps : std::min(settings.most_steps, most_traffic_steps);
    std::vector<TrafficLadder> ladders = traffic_ladders(fit.fitted, fitted, counts, settings.tolerance, most_steps);
    if (ladders.empty()) {
        const std::optional<double> reachable = least_tolerance(fit.fitted, most_steps);
        ladders = reachable ? traffic_ladders(fit.fitted, fitted, counts, *reachable, most_steps) : std::vector<TrafficLadder>{};
    }
    if (ladders.empty()) {
        return;
    }
    const Launcher best = [](std::int64_t, std::int64_t) { return [](const ShapeLosses&) { return 0.0; }; };
    const double best_us = expected_time(fitted, counts, best, best).us_per_token;
    for (const TrafficLadder& ladder : ladders) {
        fit.traffic->by_steps.push_back({ladder.ladder.steps(), best_us > 0 ? ladder.us_per_token / best_us : 0});
    }
    fit.ladder = worthwhile(ladders, best_us).ladder;
    judge_ladder(*fit.traffic, *fit.ladder);
    const Launcher by_ladder = [&](std::int64_t rows, std::int64_t cols) {
        const std::size_t prescription = fit.ladder->prescription(rows, cols);
        return [prescription](const ShapeLosses& shape) { return shape.losses[prescription]; };
    };
    for (const ThumbRule& rule : settings.rivals) {
        std::map<const ShapeLosses*, double> losses;
        for (const TrafficSite& site : sites) {
            for (const TrafficSite::Point& point : site.points) {
                if (!losses.contains(point.shape)) {
                    const std::optional<LossEstimate> loss = rule_estimate(rule, *point.shape);
                    losses.emplace(point.shape, loss ? loss->loss : not_measured);
                }
            }
        }
        const Launcher by_rule = [&](std::int64_t, std::int64_t) { return [&](const ShapeLosses& shape) { return losses.at(&shape); }; };
        fit.traffic->rules.push_back({rule.name(), expected_time(sites, counts, by_rule, by_ladder)});
    }
}

/// By the text of what sets a row's bits. Where `even` takes the place of `where` on some N alone, that is another class than either.
std::vector<std::size_t> classes_of(const std::vector<Prescription>& prescriptions, Backend backend) {
    std::vector<std::string> names;
    std::vector<std::size_t> out;
    for (const Prescription& prescription : prescriptions) {
        const bool mixed = prescription.even_where_it_divides && prescription.configuration.reduction == Reduction::where;
        const std::string name = row_class(prescription.configuration, backend) + (mixed ? ".even" : "");
        const auto known = std::ranges::find(names, name);
        out.push_back(static_cast<std::size_t>(known - names.begin()));
        if (known == names.end()) {
            names.push_back(name);
        }
    }
    return out;
}

/// What comparing the bits of the ladder's trials found where they ran.
void look_at_bits(Fit& fit) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::string>> digests;  // by N and row stride
    for (const ShapeLosses& shape : fit.fitted.shapes) {
        for (const ProblemRanking* ranking : shape.rankings) {
            const Standing* taken = chosen_on(fit, *ranking);
            if (taken != nullptr && taken->record->bits) {
                ++fit.compared;
                digests[{shape.cols, ranking->problem().shape.row_stride}].insert(taken->record->bits->row_bits);
            }
        }
    }
    for (const auto& [place, bits] : digests) {
        if (fit.restriction.batch_invariant && bits.size() > 1) {
            fit.differ_at.push_back(place.first);
        }
    }
}

/// A launcher's rule is for data that is in cache, or for data that is not.
void require_one_kind_to_fit(const Group& group) {
    std::vector<const Record*> winners;
    for (const ProblemRanking* ranking : group.rankings) {
        winners.push_back(ranking->winner);
    }
    if (const std::string flaw = cold_beside_hot(winners); !flaw.empty()) {
        throw InputError(fmt::format("{}: {}; fit one kind at a time", group.operation, flaw));
    }
}

/// The restriction admits nothing that was measured on a problem of the shape, so no ladder serves it.
bool nothing_admitted(const ShapeLosses& shape) {
    return std::ranges::any_of(shape.rankings, [](const ProblemRanking* ranking) { return ranking->standings.empty(); });
}

/// Without what a restriction does not admit. A problem of which that leaves nothing stays, unless another run has something of it.
void restrict_standings(std::vector<ProblemRanking>& rankings, const Restriction& restriction) {
    std::set<std::string> served;
    for (ProblemRanking& ranking : rankings) {
        std::erase_if(ranking.standings, [&](const Standing& standing) { return !admits(restriction, *standing.record); });
        if (!ranking.standings.empty()) {
            served.insert(ranking.problem().key());
        }
    }
    std::erase_if(rankings,
                  [&](const ProblemRanking& ranking) { return ranking.standings.empty() && served.contains(ranking.problem().key()); });
}

Fit fit_one(const Group& group, const FitSettings& settings, const BackendTraits& traits) {
    require_one_kind_to_fit(group);
    Fit out;
    out.operation = group.operation;
    out.problem = group.rankings.front()->problem().operation;
    out.device = group.rankings.front()->device();
    out.traits = traits;
    out.tolerance = settings.tolerance;
    out.restriction = settings.restriction;
    Losses all = losses_of(group.rankings, settings.decided, traits);
    if (settings.restriction.batch_invariant) {
        all.classes = classes_of(all.prescriptions, out.device.backend);
    }
    const auto held = [&](const ShapeLosses& shape) {
        const bool may_be = settings.hold_out.by_name() || !nothing_admitted(shape);  // there a ladder is not judged
        return may_be && settings.hold_out.holds(shape, static_cast<std::size_t>(&shape - all.shapes.data()));
    };
    out.held_out = all.only(held);
    out.fitted = all.only([&](const ShapeLosses& shape) { return !held(shape); });
    if (out.fitted.shapes.empty()) {
        throw InputError(fmt::format("{}: --hold-out {} leaves no shape to fit to", out.operation, settings.hold_out.text()));
    }
    if (settings.traffic) {
        fit_to_traffic(out, settings);
    } else {
        out.ladder = best_ladder(out.fitted, settings.tolerance, settings.most_steps);
    }
    if (!out.ladder && settings.most_steps > 0 && least_tolerance(out.fitted, 0)) {
        out.steps_needed = settings.most_steps + 1;
        while (!least_tolerance(out.fitted, *out.steps_needed)) {
            ++*out.steps_needed;
        }
    }
    out.none_admitted = std::ranges::any_of(out.fitted.shapes, nothing_admitted);
    for (const ShapeLosses& shape : out.fitted.shapes) {
        const double loss = ladder_loss(out.ladder, shape);
        if (out.none_admitted ? nothing_admitted(shape) : loss == not_measured || loss > settings.tolerance) {
            out.in_the_way.push_back(&shape);
        }
    }
    look_at_bits(out);
    out.within = out.ladder && out.in_the_way.empty() && out.differ_at.empty();
    const EstimateOn by_ladder = [&](const ShapeLosses& shape) { return ladder_estimate(out.ladder, shape); };
    out.on_fitted = summarise(pointers(out.fitted.shapes), by_ladder);
    out.on_held_out = summarise(pointers(out.held_out.shapes), by_ladder);
    for (const ThumbRule& rule : settings.rivals) {
        out.rivals.push_back(compare_with(rule, group, out, settings, traits));
    }
    out.dropped = static_cast<std::size_t>(std::count_if(out.fitted.shapes.begin(), out.fitted.shapes.end(), [&](const ShapeLosses& shape) {
        return std::any_of(shape.rankings.begin(), shape.rankings.end(), [&](const ProblemRanking* ranking) {
            const Standing* const standing = chosen_on(out, *ranking);
            return standing != nullptr && standing->dropped;
        });
    }));
    for (const double tolerance : other_tolerances) {
        const std::optional<Ladder> ladder = fit_ladder(out.fitted, tolerance);
        out.steps_at.push_back({tolerance, ladder ? std::optional(ladder->steps()) : std::nullopt});
    }
    return out;
}

}  // namespace

double ladder_loss(const std::optional<Ladder>& ladder, const ShapeLosses& shape) {
    return ladder ? shape.losses[ladder->prescription(shape.rows, shape.cols)] : not_measured;
}

const Standing* chosen_on(const Fit& fit, const ProblemRanking& ranking) {
    if (!fit.ladder) {
        return nullptr;
    }
    const Shape& shape = ranking.problem().shape;
    return fastest_follower(ranking, fit.fitted.prescriptions[fit.ladder->prescription(shape.rows, shape.cols)], fit.fitted.decided,
                            fit.traits);
}

std::vector<TrialsAgain> wanted_again(const Fits& fits) {
    WantedAgain wanted;
    for (const Fit& fit : fits.fits) {
        for (const ShapeLosses& shape : fit.fitted.shapes) {
            for (const ProblemRanking* ranking : shape.rankings) {
                wanted.add(*ranking, chosen_on(fit, *ranking));
            }
        }
        if (fit.traffic) {  // between two token counts a step's configuration is asked for on both
            for (const auto& [shape, prescription] : fit.traffic->rests_on) {
                for (const ProblemRanking* ranking : shape->rankings) {
                    wanted.add(*ranking,
                               fastest_follower(*ranking, fit.fitted.prescriptions[prescription], fit.fitted.decided, fit.traits));
                }
            }
        }
    }
    return wanted.take();
}

Fits fit(std::span<const Results> runs, const FitSettings& settings, const BackendTraits& traits, std::span<const Results> fresh) {
    Fits out;
    out.rankings = problem_rankings(runs, Whose::own, fresh);
    restrict_standings(out.rankings, settings.restriction);
    for (const Group& group : group_by_operation(out.rankings, settings)) {
        out.fits.push_back(fit_one(group, settings, traits));
    }
    if (out.fits.empty()) {
        throw InputError("nothing of what is asked for was measured in these results");
    }
    if (settings.hold_out.by_name() && std::ranges::all_of(out.fits, [](const Fit& one) { return one.held_out.shapes.empty(); })) {
        throw InputError(
            fmt::format("--hold-out {}: no shape is that of such a site of such a model", quoted_for_message(settings.hold_out.text())));
    }
    return out;
}

}  // namespace normtune
