#include "run/problem_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "support/error.h"
#include "support/random.h"
#include "trial/dependent_launch.h"

namespace normtune {

namespace {

/// The same whichever of the problems came upon it.
InputError too_many(const SweepOptions& options, const TrialAllowance& allowance) {
    const std::string where =
        options.problems.size() > 1 ? fmt::format("in {} problems", options.problems.size()) : options.problems[0].key();
    return InputError(
        fmt::format("more than {} trials, {}: a sweep does not hold so many; narrow the space with rules (--space), draw from it "
                    "with --strategy random --trials N, or take a part of the problems (--model, --tokens, --shard I/N)",
                    allowance.most(), where));
}

/// `most` of the numbers below `all`, ascending: a reservoir (Vitter's algorithm R), so that every subset is as likely.
std::vector<std::uint64_t> drawn_places(std::uint64_t all, std::uint64_t most, Random random) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t place = 0; place < all; ++place) {
        if (places.size() < most) {
            places.push_back(place);
        } else if (const std::uint64_t slot = random.below(place + 1); slot < most) {
            places[slot] = place;
        }
    }
    std::ranges::sort(places);
    return places;
}

}  // namespace

ProblemTrials choose_trials(const Problem& problem, const SweepOptions& options, const BackendTraits& traits, const DeviceInfo& device,
                            TrialAllowance& allowance) {
    const std::string key = problem.key();
    ProblemTrials trials;
    const auto take = [&](const Configuration& configuration) {
        if (!allowance.take()) {
            throw too_many(options, allowance);
        }
        trials.candidates.push_back(Candidate(configuration));
    };
    const std::uint64_t most = options.strategy->draws() ? options.most_trials_per_problem : 0;
    const auto drawn = [&](std::uint64_t kept) {
        if (std::cmp_greater(std::min(kept, most), allowance.left())) {
            throw too_many(options, allowance);
        }
        return drawn_places(kept, most, Random(mix_seed(options.seed, "draw/" + key)));
    };
    const ProblemPlan plan = most > 0 ? plan_problem(problem, options.space, traits, device, drawn, take)
                                      : plan_problem(problem, options.space, traits, device, false,
                                                     [&](const Configuration& configuration, const RuleTally*) { take(configuration); });
    const std::size_t chosen = trials.candidates.size();

    trials.summary.problem_key = key;
    trials.summary.points = plan.points;
    trials.summary.kept = chosen;
    for (const RuleTally& tally : plan.tallies) {
        trials.summary.pruned.push_back({tally.rule, tally.reason, tally.pruned});
    }
    if (chosen < plan.kept) {
        trials.summary.pruned.push_back({std::string(drawn_rule),
                                         fmt::format("not among the {} that were drawn with seed {}", chosen, options.seed),
                                         plan.kept - chosen});
    }
    return trials;
}

namespace {

/// As many as the strategy draws, in their order.
void draw(std::vector<std::shared_ptr<const LaunchManifest>>& kept, std::uint64_t most, Random random) {
    std::vector<std::size_t> places(kept.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    shuffle(places, random);
    places.resize(most);
    std::sort(places.begin(), places.end());
    std::vector<std::shared_ptr<const LaunchManifest>> drawn;
    for (const std::size_t place : places) {
        drawn.push_back(std::move(kept[place]));
    }
    kept = std::move(drawn);
}

}  // namespace

void add_candidates(ProblemTrials& trials, const SweepOptions& options, const Problem& problem, const DeviceInfo& device) {
    const std::uint64_t most = options.strategy->draws() ? options.most_trials_per_problem : 0;
    PlanSummary& summary = trials.summary;
    std::vector<FolderPlan> plans = plan_candidates(options.candidates, problem, device);
    for (FolderPlan& plan : plans) {
        const std::string& provider = plan.provider;
        summary.points += plan.points;
        for (const RuleTally& tally : plan.tallies) {
            summary.pruned.push_back({tally.rule, tally.reason, tally.pruned});
        }
        if (most > 0 && plan.kept.size() > most) {
            summary.pruned.push_back({tally_name(provider, drawn_rule),
                                      fmt::format("not among the {} that were drawn with seed {}", most, options.seed),
                                      plan.kept.size() - most});
            draw(plan.kept, most, Random(mix_seed(options.seed, fmt::format("draw/{}/{}", provider, problem.key()))));
        }
        summary.kept += plan.kept.size();
        for (auto& manifest : plan.kept) {
            trials.candidates.emplace_back(std::move(manifest));
        }
    }
}

void require_candidates(const SweepOptions& options, const std::vector<ProblemTrials>& plans) {
    for (const auto& [provider, named, folder] : options.candidates.sources()) {
        if (!options.shard.whole()) {
            return;
        }
        std::string why;
        std::string claims;
        bool some = !options.candidates.only.empty() && !options.candidates.only.starts_with(provider + ":");
        for (const ProblemTrials& plan : plans) {
            some =
                some || std::ranges::any_of(plan.candidates, [&, &provider = provider, &folder = folder](const Candidate& candidate) {
                    return candidate.provider() == provider && (!options.candidates.only.empty() || candidate.manifest()->folder == folder);
                });
            for (const PlanSummary::Pruned& pruned : plan.summary.pruned | std::views::reverse) {
                std::string& told = pruned.rule == tally_name(provider, claims_tally) ? claims : why;
                if (told.empty() && pruned.count > 0 && pruned.rule.starts_with(provider + ".")) {
                    told =
                        fmt::format("; of {} {} takes the last {}: {}", plan.summary.problem_key, pruned.rule, pruned.count, pruned.reason);
                }
            }
        }
        if (!some) {
            const std::string what = options.candidates.only.empty() ? "nothing of it" : "no " + options.candidates.only;
            throw InputError(fmt::format("{}: {} is left on the selected problems{}", named, what, why.empty() ? claims : why));
        }
    }
}

void require_trials(const SweepOptions& options, const std::vector<ProblemTrials>& plans) {
    if (!options.shard.whole() || std::ranges::any_of(plans, [](const ProblemTrials& plan) { return !plan.candidates.empty(); })) {
        return;
    }
    const PlanSummary& first = plans.front().summary;
    const PlanSummary::Pruned* const last = first.took_the_rest();
    throw InputError(fmt::format(
        "nothing to sweep: of {} no configuration is left on the selected problems{}", options.space.name,
        last == nullptr ? "" : fmt::format("; of {} {} takes the last {}: {}", first.problem_key, last->rule, last->count, last->reason)));
}

std::string mixed_launches(const std::vector<ProblemTrials>& plans) {
    std::size_t mixed = 0;
    std::string first;
    for (const ProblemTrials& plan : plans) {
        const auto has = [&](bool dependent, bool own_alone) {
            return std::ranges::any_of(plan.candidates, [=](const Candidate& candidate) {
                return launched_dependent(candidate) == dependent && (!own_alone || candidate.configuration() != nullptr);
            });
        };
        if (has(true, true) && has(false, true)) {
            throw InputError(
                fmt::format("{}: the space has dependent_launch off and on, whose times are not comparable; sweep each by itself",
                            plan.summary.problem_key));
        }
        if (has(true, false) && has(false, false)) {
            first = first.empty() ? plan.summary.problem_key : first;
            ++mixed;
        }
    }
    return mixed == 0 ? ""
                      : fmt::format(
                            "{}{}: some candidates are launched while the launch ahead ends (dependent), others after it: each has a limit "
                            "and a floor of its kind, and their times are not comparable",
                            first, mixed > 1 ? fmt::format(" and {} more", mixed - 1) : "");
}

}  // namespace normtune
