// The ladder that loses the least expected time over a traffic, of those within a cap on the worst loss. Pure. docs/fit.md, "Traffic".
#pragma once

#include <vector>

#include "judge/traffic.h"

namespace normtune {

struct TrafficLadder {
    Ladder ladder;
    double us_per_token = 0;  // what it takes beyond the best measured
};

/// More than anybody writes into a launcher; the memory for the ladders grows with the square of it.
inline constexpr std::size_t most_traffic_steps = 256;

/// Of each number of steps the ladder of the least expected time that loses at most `cap` (0.02) on every shape of `losses`, the fewest
/// steps first, as long as more steps take less time; at most `most_steps` (0: any number). Batches take the steps of the next measured
/// rows. Where `losses` has classes the steps of a band are of one. A configuration that was measured on neither side of a batch is taken
/// to lose the cap there. Empty: none is within the cap.
std::vector<TrafficLadder> traffic_ladders(const Losses& losses, const std::vector<TrafficSite>& sites, const TokenCounts& counts,
                                           double cap, std::size_t most_steps);

/// The fewest steps whose expected time is within 0.1% of the least; `best_us_per_token` is that of the best measured.
const TrafficLadder& worthwhile(const std::vector<TrafficLadder>& ladders, double best_us_per_token);

}  // namespace normtune
