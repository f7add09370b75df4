// The table of winners: what a sweep ends with.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/problem_ranking.h"

namespace normtune {

struct Winner {
    const Record* record = nullptr;  // the best of its problem, by the finals
    int tied = 0;                    // others that are not significantly slower
    std::size_t measured = 0;        // passed and measured trials of the problem
    bool stored = false;             // from the store of winners; when it was measured says the record's timestamp
    struct Gain {
        std::string heuristic;        // "te_rows_per_program", …
        std::optional<double> ratio;  // time of the best configuration that obeys the heuristic / the winner's
    };
    std::vector<Gain> over_heuristics;  // all of space/heuristics.h, in its order; no ratio: none measured obeys it
    double over_worst = 1;              // time of the slowest passed configuration / the winner's
};                                      // times: the medians of the finalists' fresh rounds between finalists, else p50

/// One a problem that was ranked, in the order of the records. They point into `results`.
std::vector<Winner> find_winners(const Results& results, Whose whose = Whose::all);

/// `width` 0: as wide as it needs (piped). Plain text; `color` adds ANSI emphasis. Where the columns do not fit the
/// width, each winner takes a few short lines instead of one long one.
std::string winners_table(const std::vector<Winner>& winners, int width, bool color);

/// The winners of each run as JSON; its schema is schemas/winners.schema.json.
std::string winners_json(std::span<const Results> runs);

}  // namespace normtune
