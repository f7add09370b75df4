// A comparison in a few numbers. Pure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "judge/comparison.h"

namespace normtune {

struct RatioGroup {
    std::string by;    // "all", "op", "mode", "site"
    std::string name;  // "backward", …; empty for all
    std::uint64_t pairs = 0;
    std::uint64_t slower = 0;
    std::uint64_t faster = 0;
    double geometric_mean = 1;  // of the ratios
};

struct Summary {
    std::array<std::uint64_t, verdict_names.names.size()> counts{};
    std::vector<RatioGroup> groups;  // all, then by op, mode and site; a shape of several sites counts in each
    std::vector<const Pair*> worst;  // the largest ratios, at most five, without the control; point into the comparison
    std::vector<const Pair*> best;   // the smallest, of the others

    std::uint64_t count(Verdict verdict) const { return counts[static_cast<std::size_t>(verdict)]; }
};

Summary summarise(const Comparison& comparison);

}  // namespace normtune
