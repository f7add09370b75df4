// Of one run a side: pairs that moved while as many moved the other way by as much. Trials that each lie in a state of their own (an
// allocation, a clock) look like that, and nothing in one run tells these from changes. Why these numbers: docs/comparing.md. Pure.
#pragma once

#include <span>

#include "judge/comparison.h"

namespace normtune {

/// Sets Pair::both_ways of pairs whose intervals are set.
void find_both_ways(const Comparison& comparison, std::span<Pair* const> judged);

}  // namespace normtune
