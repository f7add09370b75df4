// The table of winners: what a sweep ends with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/results.h"

namespace normtune {

struct Winner {
    const Record* record = nullptr;  // rank 1 of its problem
    int tied = 0;                    // others that cannot be told apart from it
    std::size_t measured = 0;        // passed trials of the problem
    struct Gain {
        std::string heuristic;        // "te_rows_per_program", …
        std::optional<double> ratio;  // p50 of the best configuration that obeys the heuristic / p50 of the winner
    };
    std::vector<Gain> over_heuristics;
    double over_worst = 1;  // p50 of the slowest passed configuration / p50 of the winner
};

/// One a problem with at least one passed and ranked trial, in the order of the records.
std::vector<Winner> find_winners(const Results& results);

/// `width` 0: as wide as it needs (piped). Plain text; `color` adds ANSI emphasis.
std::string winners_table(const std::vector<Winner>& winners, int width, bool color);

}  // namespace normtune
