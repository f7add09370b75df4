// What became of the trials of a run.
#pragma once

#include <string>

#include "report/table.h"
#include "store/results.h"

namespace normtune {

/// A line a problem: its trials, how many passed, and how many left each other outcome.
std::string outcomes_table(const Results& results, const Style& style);

/// "120 trials: 118 passed, 2 incorrect.", then the first of the faulty ones with their reasons and how to repeat them.
std::string outcomes_text(const Results& results, const Style& style);

}  // namespace normtune
