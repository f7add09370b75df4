// The latency verdicts of a comparison: estimates, what runs differ by, intervals. Pure.
#pragma once

#include "judge/comparison.h"

namespace normtune {

/// Sets all but the row numbers and facets of the pairs. The sides' rows have been matched.
void judge_latency(Comparison& comparison);

}  // namespace normtune
