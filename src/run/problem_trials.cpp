#include "run/problem_trials.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.h"
#include "support/random.h"

namespace normtune {

namespace {

struct Drawn {
    std::uint64_t position = 0;  // in the plan
    Configuration configuration;
};

/// The same whichever of the problems came upon it.
InputError too_many(const SweepOptions& options, const TrialAllowance& allowance) {
    const std::string where =
        options.problems.size() > 1 ? fmt::format("in {} problems", options.problems.size()) : options.problems[0].key();
    return InputError(
        fmt::format("more than {} trials, {}: a sweep does not hold so many; narrow the space with rules (--space), draw from it "
                    "with --strategy random --trials N, or take a part of the problems (--model, --tokens, --shard I/N)",
                    allowance.most(), where));
}

}  // namespace

ProblemTrials choose_trials(const Problem& problem, const SweepOptions& options, const BackendTraits& traits, const DeviceInfo& device,
                            TrialAllowance& allowance) {
    const std::string key = problem.key();
    const bool draws = options.strategy->draws() && options.most_trials_per_problem > 0;
    Random random(mix_seed(options.seed, "draw/" + key));
    std::vector<Drawn> drawn;
    std::uint64_t seen = 0;
    const auto visit = [&](const Configuration& configuration, const RuleTally*) {
        // Reservoir sampling (Vitter's algorithm R): every subset is as likely, and the space is walked once.
        const std::uint64_t position = seen++;
        if (!draws || drawn.size() < options.most_trials_per_problem) {
            if (!allowance.take()) {
                throw too_many(options, allowance);
            }
            drawn.push_back({position, configuration});
        } else if (const std::uint64_t slot = random.below(seen); slot < drawn.size()) {
            drawn[slot] = {position, configuration};
        }
    };
    const ProblemPlan plan = plan_problem(problem, options.space, traits, device, false, visit);
    std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) { return a.position < b.position; });

    ProblemTrials trials;
    trials.summary.problem_key = key;
    trials.summary.points = plan.points;
    trials.summary.kept = drawn.size();
    for (const RuleTally& tally : plan.tallies) {
        trials.summary.pruned.push_back({tally.rule, tally.reason, tally.pruned});
    }
    if (drawn.size() < plan.kept) {
        trials.summary.pruned.push_back(
            {"random", fmt::format("not among the {} that were drawn with seed {}", drawn.size(), options.seed), plan.kept - drawn.size()});
    }
    trials.candidates.reserve(drawn.size());
    for (const Drawn& one : drawn) {
        trials.candidates.push_back(Candidate(one.configuration));
    }
    return trials;
}

}  // namespace normtune
