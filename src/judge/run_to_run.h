// How much two runs of the same code differ on this device: what rounds within a run cannot show. Pure.
#pragma once

#include <span>

#include "judge/comparison.h"

namespace normtune {

/// Where both sides know their floors and these differ by more than run_to_run_us, times are compared above the baseline's.
Floors find_floors(const Comparison& comparison);

struct RatioSample {
    double log_ratio = 0;
    double variance = 0;  // that the rounds explain
};

/// From the copies that both files measured (no change of a kernel moves them) and from the densest half of the pairs.
RunToRun find_run_to_run(const Comparison& comparison, std::span<const RatioSample> ratios);

/// log(ratio) of the copy in the rounds of the pair's own processes beyond what copies usually change by: how much the machine was
/// disturbed then.
double disturbance(const Comparison& comparison, const Pair& pair);

/// By how much log(ratio) may be off because launching became slower or faster on this machine: what a copy that is
/// mostly launch changed by beyond `assumed_us`, over the pair's time. 0 where the copy is longer.
double launch_shift(const Comparison& comparison, const Pair& pair, double assumed_us);

/// Length of the shortest interval that holds half of the values, as a normal's standard deviation. A second cluster,
/// of trials that did change, does not widen it.
double densest_half_deviation(std::vector<double> values);

}  // namespace normtune
