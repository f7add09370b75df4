#include "run/strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/random.h"
#include "support/error.h"

namespace normtune {

namespace {

// A record takes about a kilobyte while the sweep runs, and a trial some milliseconds at the very least: beyond this a
// sweep would take days and more memory than most machines have.
constexpr std::uint64_t most_exhaustive_trials = 4'000'000;

struct Drawn {
    std::uint64_t position = 0;  // in the plan
    Configuration configuration;
};

}  // namespace

ProblemTrials choose_trials(const Problem& problem, const SweepOptions& options, const BackendTraits& traits,
                            const DeviceInfo& device) {
    const std::string key = problem.key();
    const bool draws = options.strategy == Strategy::random && options.most_trials_per_problem > 0;
    Random random(mix_seed(options.seed, "draw/" + key));
    std::vector<Drawn> drawn;
    std::uint64_t seen = 0;
    const auto visit = [&](const Configuration& configuration, const RuleTally*) {
        // Reservoir sampling (Vitter's algorithm R): every subset is as likely, and the space is walked once.
        const std::uint64_t position = seen++;
        if (!draws && drawn.size() >= most_exhaustive_trials) {
            throw InputError(
                fmt::format("{}: more than {} configurations are left after pruning; narrow the space, or "
                            "draw from it with --strategy random",
                            key, most_exhaustive_trials));
        }
        if (!draws || drawn.size() < options.most_trials_per_problem) {
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
            {"random", fmt::format("not among the {} that were drawn with seed {}", drawn.size(), options.seed),
             plan.kept - drawn.size()});
    }
    trials.configurations.reserve(drawn.size());
    for (const Drawn& one : drawn) {
        trials.configurations.push_back(one.configuration);
    }
    return trials;
}

}  // namespace normtune
