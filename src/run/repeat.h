// The command line that runs one trial again.
#pragma once

#include <string>

#include "run/sweep.h"

namespace normtune {

/// "normtune sweep --backend cpu --problem … --config …", each word quoted for a shell where it needs that.
std::string repeat_command(const SweepOptions& options, int ordinal, const Problem& problem, const Candidate& candidate);

}  // namespace normtune
