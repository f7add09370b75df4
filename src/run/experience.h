// What the problems of a sweep have shown so far, for those that are still to come. Lanes share it.
#pragma once

#include <mutex>
#include <vector>

#include "run/recorder.h"
#include "run/trial_order.h"

namespace normtune {

/// What the records tell of a problem's candidates so far.
MeasuredProblem measured_problem(const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder);

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
