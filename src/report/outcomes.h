// What became of the trials of a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/sections.h"
#include "store/results.h"

namespace normtune {

inline constexpr std::string_view outcome_columns = "problem|>trials|>passed|others";
/// A line a problem: its trials, how many passed, and how many left each other outcome.
Section outcomes_section(const Results& results);

/// "120 trials: 118 passed, 2 incorrect.", then the first of the faulty ones with their reasons and how to repeat them, and what the
/// budget or an interrupt left undone.
std::string outcomes_text(const Results& results);

struct Unfinished {
    std::uint64_t problems = 0;
    std::vector<std::string> first;  // "KEY: the finals were not held", of the first ten
    /// "The sweep was interrupted before 2 problems were finished".
    std::string title() const;
    /// "3 more", "": none.
    std::string others() const;
};
/// Problems whose trials all ended, and that an interrupt left without finals, or without some processes' times.
Unfinished unfinished_problems(const Results& results);

/// That what may win was measured in fewer processes here than there: the sweep was interrupted between them, or merged with others. Empty:
/// in as many.
std::string missing_processes_text(const Results& results);

}  // namespace normtune
