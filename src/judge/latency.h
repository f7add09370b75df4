// The latency verdicts of a comparison: estimates, what runs differ by, intervals. Pure.
#pragma once

#include <span>

#include "judge/comparison.h"

namespace normtune {

inline constexpr int most_degrees = 200;  // beyond it Student's t is as good as normal

/// Benjamini and Hochberg's step-up over all pairs that are not of the same code; the intervals have the level that goes with it
/// (Benjamini and Yekutieli 2005), so that an interval leaves out 1 exactly where the test calls the pair. Ratio, error, degrees, shift
/// and p are set.
void set_intervals(Comparison& comparison, std::span<Pair* const> judged);

/// Sets all but the row numbers and facets of the pairs. The sides' rows have been matched.
void judge_latency(Comparison& comparison);

}  // namespace normtune
