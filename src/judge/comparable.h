// May two results be compared at all? Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "judge/comparison.h"

namespace normtune {

/// Its place in Pair::differs.
constexpr std::uint8_t facet_bit(Facet facet) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(facet));
}

/// A facet's values on one side: at most three, and "…" for others.
std::string value_names(const ResultRows& side, Facet facet);

/// The option, or the key of a gate's policy, that compares winners.
std::string_view by_best(const Comparison& comparison);

/// Empty where a matched pair can be judged; else one line: what differs and how to allow it, or that nothing is in common.
std::string why_not_comparable(const Comparison& comparison);

}  // namespace normtune
