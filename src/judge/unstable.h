// Of one run a side: pairs that moved alone, or nearly. A few trials differ from run to run of the same code by far more than all others
// (probably by where their memory lies), and nothing in one run tells these from changes. Why these numbers: docs/comparing.md. Pure.
#pragma once

#include <span>

#include "judge/comparison.h"

namespace normtune {

/// Sets Pair::may_be_unstable of pairs whose intervals are set, and both_ways where that applies.
void find_unstable(const Comparison& comparison, std::span<Pair* const> judged);

}  // namespace normtune
