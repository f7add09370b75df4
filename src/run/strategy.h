// Which of a problem's kept configurations are tried.
#pragma once

#include <vector>

#include "problem/plan.h"
#include "run/sweep.h"

namespace normtune {

/// The trials of a problem, in the plan's order, and the plan's tallies as results keep them: where the strategy draws,
/// what it did not draw is one tally more ("random"). Memory grows with the draw, not with the space.
struct ProblemTrials {
    std::vector<Configuration> configurations;
    PlanSummary summary;
};

ProblemTrials choose_trials(const Problem& problem, const SweepOptions& options, const BackendTraits& traits,
                            const DeviceInfo& device);

}  // namespace normtune
