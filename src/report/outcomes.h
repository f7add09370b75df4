// What became of the trials of a run.
#pragma once

#include <string>
#include <string_view>

#include "report/sections.h"
#include "store/results.h"

namespace normtune {

inline constexpr std::string_view outcome_columns = "problem|>trials|>passed|others";
/// A line a problem: its trials, how many passed, and how many left each other outcome.
Section outcomes_section(const Results& results);

/// "120 trials: 118 passed, 2 incorrect.", then the first of the faulty ones with their reasons and how to repeat them, and what the
/// budget or an interrupt left undone.
std::string outcomes_text(const Results& results);

}  // namespace normtune
