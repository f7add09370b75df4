// The candidates of other providers among a sweep's trials: each joins those of the one problem that it is for.
#pragma once

#include <string>

#include "run/problem_trials.h"
#include "run/sweep.h"

namespace normtune {

/// Throws InputError: one whose problem is not selected, two of one name on a problem.
void check_candidates(const SweepOptions& options);

/// After the problem's own trials, in the order in which they were given; the plan counts them.
void add_candidates(ProblemTrials& trials, const SweepOptions& options, const Problem& problem);

/// What a problem's candidates are, for what is kept of it; empty: it has normtune's own alone.
std::string candidates_digest(const SweepOptions& options, const Problem& problem);

}  // namespace normtune
