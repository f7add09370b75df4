// In which order a problem's candidates are tried, from what problems like it have shown.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "trial/candidate.h"

namespace normtune {

/// A problem that was measured before.
struct MeasuredProblem {
    /// `times_us`: p50 by the candidate's identity.
    MeasuredProblem(Problem problem, std::map<std::string, double> times_us, std::string winner);

    Problem problem;
    std::map<std::string, double> log_ratios;  // by the candidate's identity: ln(its p50 / the least p50)
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

/// What the problems of a sweep have shown so far, for those that are still to come. Thread-safe.
class Experience {
public:
    /// Replaces what was noted of the same work.
    void note(MeasuredProblem measured);
    /// promising_first, by what is noted now.
    std::vector<std::size_t> order(const Problem& problem, const std::vector<Candidate>& candidates, std::uint64_t seed) const;

private:
    mutable std::mutex mutex_;
    std::vector<MeasuredProblem> measured_;
};

}  // namespace normtune
