// Which row of one file belongs to which of another. Pure.
#pragma once

#include <string>
#include <vector>

#include "judge/comparison.h"

namespace normtune {

struct Match {
    std::uint32_t baseline = no_row;
    std::uint32_t candidate = no_row;
};

/// One entry a key that either side has, the baseline's keys in its order, then the candidate's others. The key is the problem, the device,
/// and (by config) the configuration; a facet that may differ is left out of it. Of several rows of one side with one key the newest
/// stands, by best the winner: rank 1, else the least p50 that passed and that no race dropped.
std::vector<Match> match_rows(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings);

/// Of each row the next that measured the same trial in another process, in a circle; of two rows of one process the newer is in it. Empty
/// where there is one process alone.
std::vector<std::uint32_t> repeats_of(const ResultRows& side);

/// Has the row a value of the metric: it passed, and was measured.
bool usable(const ResultRow& row, Metric metric);

}  // namespace normtune
