// --batch-invariant and --deterministic.
#pragma once

#include <span>

#include "cli/option_set.h"
#include "judge/reproducible.h"
#include "report/reproducible_report.h"

namespace normtune::cli {

/// Of the commands that read results.
void declare_restriction(OptionSet& options, Restriction& restriction);

/// Says on stderr that nothing is admitted for some problems. Inconclusive where that is so.
ExitCode report_missing(std::span<const PricedLadder> ladders);

}  // namespace normtune::cli
