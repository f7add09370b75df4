// How a sweep's time budget is spent over its problems. Pure; why so: docs/strategies.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace normtune {

/// What is known of a problem when the next slice of time is given out.
struct ProblemState {
    std::uint64_t trials = 0;   // kept by the plan
    std::uint64_t missing = 0;  // of them, never tried
    bool visited = false;       // had a slice in this run
    double limit_ratio = 0;     // the fastest so far over the copy's time; 0: not known
};

struct Slice {
    std::size_t problem = 0;
    double seconds = 0;
};

/// What more time may gain on a problem: the logarithm of how far its best is from a copy's speed, times the share of
/// its configurations that were never tried. Nothing is faster than the copy by much, so a problem at its limit gains
/// nothing.
double promise(const ProblemState& state);

/// Whose turn it is, and for how long. First each problem once: four fifths of the budget, shared by the number of
/// configurations that they lack; then the most promising one again and again. None: nothing is missing any more, or
/// no slice fits into `left_s`. `least_s`: below it a slice is not worth opening the problem for.
std::optional<Slice> next_slice(std::span<const ProblemState> problems, double budget_s, double left_s, double least_s);

}  // namespace normtune
