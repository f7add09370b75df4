#include "run/experience.h"

#include <algorithm>
#include <cmath>

namespace normtune {

MeasuredProblem measured_problem(const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder) {
    const std::string problem_key = problem.key();
    MeasuredProblem out{problem, {}, {}};
    double least = 0;
    for (const Candidate& candidate : candidates) {
        const Record* record = recorder.find(problem_key, candidate.identity());
        if (record == nullptr || record->outcome != Outcome::passed || !record->measurement) {
            continue;
        }
        const double us = std::log(record->measurement->p50_us);
        least = out.log_ratios.empty() ? us : std::min(least, us);
        out.log_ratios.emplace(candidate.identity(), us);
        if (record->measurement->rank == 1) {
            out.winner = candidate.identity();
        }
    }
    for (auto& [key, ratio] : out.log_ratios) {
        ratio -= least;
    }
    return out;
}

void Experience::note(MeasuredProblem measured) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(measured_.begin(), measured_.end(), [&](const MeasuredProblem& m) { return m.problem.same_work(measured.problem); });
    if (found == measured_.end()) {
        measured_.push_back(std::move(measured));
    } else {
        *found = std::move(measured);
    }
}

std::vector<std::size_t> Experience::order(const Problem& problem, const std::vector<Candidate>& candidates, std::uint64_t seed) const {
    const std::lock_guard lock(mutex_);
    return promising_first(problem, candidates, measured_, seed);
}

}  // namespace normtune
