#include <algorithm>

#include "measure/strategies/strategy.h"
#include "support/random.h"

// A line for each strategy, the default first; NAME.cpp defines NAME_strategy.
#define NORMTUNE_STRATEGIES(line) line(racing) line(exhaustive) line(random)

namespace normtune {

#define NORMTUNE_DECLARE(name) const Strategy& name##_strategy();
NORMTUNE_STRATEGIES(NORMTUNE_DECLARE)

std::span<const Strategy* const> strategies() {
#define NORMTUNE_ENTRY(name) &name##_strategy(),
    static const Strategy* const all[] = {NORMTUNE_STRATEGIES(NORMTUNE_ENTRY)};
    return all;
}

const Strategy* find_strategy(std::string_view name) {
    const auto all = strategies();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Strategy* strategy) { return strategy->name() == name; });
    return found == all.end() ? nullptr : *found;
}

std::vector<std::string> strategy_names() {
    std::vector<std::string> names;
    for (const Strategy* strategy : strategies()) {
        names.emplace_back(strategy->name());
    }
    return names;
}

std::optional<Slice> Strategy::next_slice(std::span<const ProblemState> problems, double, double left_s) const {
    const auto is_new = [](const ProblemState& state) { return !state.visited; };
    const auto next = std::find_if(problems.begin(), problems.end(), is_new);
    if (next == problems.end()) {
        return std::nullopt;
    }
    const auto to_visit = static_cast<double>(std::count_if(next, problems.end(), is_new));
    return Slice{static_cast<std::size_t>(next - problems.begin()), std::max(0.0, left_s) / to_visit};
}

void Scheduler::order(std::vector<std::size_t>& trials, const Experience&) const {
    shuffle(trials, Random(mix_seed(of_.seed, "order/" + of_.problem.key())));
}

std::size_t Scheduler::batch_size(std::size_t) const {
    constexpr std::size_t most_held = 128;  // kernels, and trials whose samples are kept
    return most_held;
}

bool measure_batch(Scheduler& scheduler, std::size_t trials, bool with_incumbent, BatchSampler& sampler) {
    std::vector<bool> running(trials + (with_incumbent ? 1 : 0), true);
    const auto last_trial = running.begin() + static_cast<std::ptrdiff_t>(trials);
    scheduler.begin(running.size());
    while (std::find(running.begin(), last_trial, true) != last_trial) {
        if (!sampler.take_round(running)) {
            return false;
        }
        for (std::size_t i = 0; i < running.size(); ++i) {
            if (running[i] && sampler.series(i) == nullptr) {
                scheduler.leave(i);
                running[i] = false;
            } else if (running[i]) {
                scheduler.take(i, *sampler.series(i), sampler.twin(i));
            }
        }
        for (const Scheduler::Stop& stop : scheduler.end_round(sampler.out_of_time())) {
            running[stop.contender] = false;
            sampler.stop(stop.contender, stop.reason);
        }
    }
    return true;
}

}  // namespace normtune
