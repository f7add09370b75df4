// In which order a problem's candidates are tried, from what problems like it have shown. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "trial/candidate.h"

namespace normtune {

/// A problem that was measured before.
struct MeasuredProblem {
    Problem problem;
    std::map<std::string, double> log_ratios;  // by identity: ln(its p50 / the least p50)
    std::string winner;                        // identity; empty: none
};

/// How unlike two problems are for the choice of a configuration: |log2 N/N'| + |log2 M/M'| / 4; infinite where they
/// are not the same operation. eps does not count.
double distance(const Problem& a, const Problem& b);

/// Indices into `candidates`: first those of other providers; then the winners of the nearest measured problems, nearest first; then by the
/// mean of the logarithmic ratios that those problems recorded, nearer ones weighing more. Candidates that none of them recorded stand in
/// the middle. Where nothing like the problem was measured, the order is a stratified draw: every combination of the axes that shape a
/// launch once, then each a second time, and so on, at random within.
std::vector<std::size_t> promising_first(const Problem& problem, const std::vector<Candidate>& candidates,
                                         std::span<const MeasuredProblem> measured, std::uint64_t seed);

}  // namespace normtune
