// When a configuration has been measured enough. Pure.
#pragma once

#include <span>

#include "trial/measurement.h"

namespace normtune {

struct StopRule {
    int least_rounds = 6;  // fewer rounds cannot give a 95% interval of a median
    int most_rounds = 20;
    double relative_half_width = 0.01;  // of the 95% interval of the median over rounds, relative to the median
    double time_cap_us = 2e6;           // device time a configuration may take in all

    /// After a round: none (go on), or why to stop; confidence is preferred where several hold. `spent_us` is the
    /// device time of this configuration so far. The time cap holds from the first round on, the others from
    /// least_rounds.
    StopReason decide(std::span<const double> round_medians_us, double spent_us) const;
};

}  // namespace normtune
