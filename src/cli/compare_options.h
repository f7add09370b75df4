// What compare and gate share: reading both sides, and how they are matched.
#pragma once

#include <string>
#include <utility>

#include "cli/option_set.h"
#include "judge/comparison.h"

namespace normtune::cli {

/// Options that say how rows are matched; they fill in `settings`.
void declare_matching(OptionSet& options, CompareSettings& settings);

/// Both files, read at once. Throws InputError.
std::pair<ResultRows, ResultRows> read_both_sides(const std::string& baseline, const std::string& candidate);

}  // namespace normtune::cli
