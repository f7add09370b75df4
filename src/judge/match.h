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
/// stands, by best the winner: rank 1, else the least p50 that passed and that no race dropped; of rows without a p50 the least memory.
std::vector<Match> match_rows(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings);

/// Of each row the next that measured the same trial in another process, in a circle; of two rows of one process the newer is in it. Empty
/// where there is one process alone.
std::vector<std::uint32_t> repeats_of(const ResultRows& side);

/// Has the row a value of the metric: it passed, and was measured.
bool usable(const ResultRow& row, Metric metric);

/// Calls `use` with each row that the pair's value rests on: of a side (0 the baseline, 1 the candidate) that of every process which
/// measured the trial, but for times that a race dropped.
template <typename Use>
void for_each_run(const Comparison& comparison, std::size_t side, const Pair& pair, Use use) {
    const ResultRows& rows = side == 0 ? *comparison.baseline : *comparison.candidate;
    const std::vector<std::uint32_t>& next = comparison.repeats[side];
    const std::uint32_t first = side == 0 ? pair.baseline : pair.candidate;
    const Metric metric = comparison.settings.metric;
    std::uint32_t row = first;
    do {
        const ResultRow& one = rows.rows[row];
        if (usable(one, metric) && !(metric == Metric::latency && one.dropped)) {
            use(one);
        }
        row = next.empty() ? first : next[row];
    } while (row != first);
}

}  // namespace normtune
