// The table of winners: what a sweep ends with.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/problem_ranking.h"
#include "judge/reproducible.h"
#include "report/sections.h"

namespace normtune {

struct Proposal;  // judge/nearest_device.h

struct Winner {
    const Record* record = nullptr;  // the best of its problem, by the finals
    int tied = 0;                    // others that are not significantly slower
    std::size_t measured = 0;        // passed and measured trials of the problem
    bool stored = false;             // from the store of winners; when it was measured says the record's timestamp
    struct Gain {
        std::string heuristic;        // "te_rows_per_program", …
        std::optional<double> ratio;  // time of the best configuration that obeys the heuristic / that of the best of normtune's own
    };
    std::vector<Gain> over_heuristics;  // all of space/heuristics.h, in its order; no ratio: none measured obeys it
    double over_worst = 1;              // time of the slowest passed configuration / the winner's
};                                      // times over the winner's: judge/problem_ranking.h

/// One a problem that was ranked, in the order of the records. They point into `results`.
std::vector<Winner> find_winners(const Results& results, Whose whose = Whose::all);

/// Of problems whose finals were not held, as the sweep was interrupted, or was normtune ab's: what has the least p50.
std::vector<Winner> find_leaders(const Results& results);

/// A line a winner, and what its columns say.
Section winners_section(const std::vector<Winner>& winners);
/// Winners and leaders; that nothing was measured, where there are none. `under_way`: trials that have rounds and are not complete.
std::vector<Section> winners_sections(const Results& results, std::span<const Record> under_way = {});
/// `of_two_versions`: so are the leaders' results.
std::vector<Section> winners_sections(const std::vector<Winner>& winners, const std::vector<Winner>& leaders, bool of_two_versions = false);

/// All that these tables may have.
std::vector<std::string> winners_headings();

/// The winners of each run as JSON; its schema is schemas/winners.schema.json. `proposal`: that they are for another device; `prices`:
/// what taking these and no others costs.
std::string winners_json(std::span<const Results> runs, const Proposal* proposal = nullptr, std::span<const PricedLadder> prices = {});
/// The same of one run, whose winners are known.
std::string winners_json(const Environment& environment, const std::vector<Winner>& winners);

}  // namespace normtune
