// --batch-invariant and --deterministic.
#pragma once

#include <string_view>
#include <vector>

#include "cli/option_set.h"
#include "judge/reproducible.h"
#include "report/reproducible_report.h"

namespace normtune::cli {

/// Of the commands that read results.
void declare_restriction(OptionSet& options, Restriction& restriction);

/// Results whose winners are those that a restriction admits.
struct RestrictedResults {
    std::vector<ProblemRanking> rankings;  // they point into the results that were given, and what follows into them
    std::vector<PricedLadder> ladders;
    std::vector<Results> results;  // one each of those

    RestrictedResults(std::span<const Results> all, const Restriction& restriction, Whose whose);
    /// Says on stderr that nothing is admitted for some problems. Inconclusive where that is so.
    ExitCode report_missing() const;
};

}  // namespace normtune::cli
