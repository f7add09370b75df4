// What the values of one axis cost by what was measured: an axis of normtune's own configurations, or a tunable of another provider's
// kernel. Pure: no device, no clock, no files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/loss_summary.h"
#include "judge/problem_ranking.h"

namespace normtune {

/// One value of the axis over the problems of an op and a mode. A loss is that of the best measured candidate with the value against the
/// best of the provider on the problem.
struct AxisValueEffect : LossSummary<std::string> {
    std::string provider;
    std::string op;
    std::string mode;
    std::string value;
    std::size_t best_on = 0;  // problems whose best of the provider has it
    struct Loss {
        std::size_t problem;  // in AxisEffect::problems
        double loss;
    };
    std::vector<Loss> losses;  // what `mean` and `worst` are of
};

struct AxisEffect {
    AxisEffect() = default;
    AxisEffect(AxisEffect&&) noexcept = default;  // its parts point at its problems
    AxisEffect& operator=(AxisEffect&&) noexcept = default;

    std::string axis;
    DeviceInfo device;
    std::vector<std::string> problems;    // keys
    std::size_t repeats = 0;              // as CountedRankings::repeats
    std::vector<AxisValueEffect> values;  // by provider, op, mode, and value in the order of numbers
};

/// Throws InputError: nothing was measured, or nothing that was has such an axis; `axis` is then compared with those that are there.
AxisEffect axis_effect(std::span<const Results> runs, const std::string& axis);

/// Of every axis and tunable that was measured, those of normtune's own configurations first; `rankings` are of all candidates of one
/// device.
std::vector<AxisEffect> axis_effects(std::span<const ProblemRanking> rankings);

}  // namespace normtune
