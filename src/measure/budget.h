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

/// Of a problem's share of the budget: for the finals; and of what is left when a batch begins: to build it.
struct BudgetShares {
    double finals = 0.2;
    double build = 0.5;
};

/// Below this a second slice is not worth opening the problem again.
inline constexpr double least_slice_s = 0.5;

/// The next problem that had no turn yet, with an even part of what is left. None: all had theirs.
std::optional<Slice> even_slice(std::span<const ProblemState> problems, double left_s);

/// First each problem once: nine tenths of the budget, shared by the number of candidates that they lack; then the most
/// promising one again and again. None: nothing is missing any more, or no slice fits into `left_s`.
std::optional<Slice> promising_slice(std::span<const ProblemState> problems, double budget_s, double left_s);

}  // namespace normtune
