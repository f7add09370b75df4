// The best of each provider in the same rounds: normtune's own beside other people's kernels. Pure. docs/peers.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/results.h"

namespace normtune {

/// A provider's name, and whether the kernel is launched while the launch ahead ends (Measurement::dependent()).
using Contestant = std::pair<std::string, bool>;
/// Of a record with a measurement.
Contestant contestant_of(const Record& record);

/// A problem in one run: of each contestant the candidate of the best rank, else the one with fresh rounds, else that of the least p50.
struct SideBySide {
    const Problem* problem = nullptr;
    std::map<Contestant, const Record*> best;

    const Record* own() const;  // of plain launches; null: none was measured
    /// The least time of the other providers' plain launches over the own one's. None: no own one, or no other.
    std::optional<double> fastest_other() const;
};

/// Median of the finals' fresh rounds, which had no part in choosing it; p50 of all rounds of what was not in them (of sweeps from before
/// each provider had a place there). µs.
double time_of(const Record& record);
/// Median of an empty launch in the same rounds. Sweeps from before empty launches were in the finals: in the record's other rounds. µs.
double floor_of(const Record& record);
/// Of times below it, µs, an empty launch is a part that tables state.
inline constexpr double floor_counts_below_us = 10;

/// One a problem with a measured candidate, in the order of the records; of a problem in several runs the one that started last holds.
/// They point into `runs`. Throws InputError: runs of several devices.
std::vector<SideBySide> side_by_side(std::span<const Results> runs);

/// Over the problems of an operation that have both sides.
struct SideBySideMean {
    std::string operation;  // Problem::operation_key()
    int problems = 0;
    double geometric_mean = 1;  // of fastest_other()
    double least = 1;
    double most_limit = 0;  // the largest limit_ratio of the own ones; 0: none has a limit
};

/// In the order of the problems.
std::vector<SideBySideMean> means(std::span<const SideBySide> problems);

}  // namespace normtune
