// A problem to be scheduled, and somebody who samples it.
#pragma once

#include <memory>
#include <vector>

#include "measure/strategies/strategy.h"
#include "synthetic_sampler.h"

namespace normtune::testing {

struct SmallProblem {
    explicit SmallProblem(std::size_t count) {
        problem.shape = {256, 1024, 1024};
        for (std::size_t i = 0; i < count; ++i) {
            Configuration configuration;
            configuration.rows_per_program = static_cast<int>(i) + 1;
            candidates.emplace_back(configuration);
        }
    }
    /// The scheduler refers to this.
    std::unique_ptr<Scheduler> schedule(const Strategy& strategy) const& {
        return strategy.schedule({problem, candidates, stop_rule, 2e4, 1});
    }
    std::unique_ptr<Scheduler> schedule(const Strategy& strategy) const&& = delete;
    Problem problem;
    std::vector<Candidate> candidates;
    StopRule stop_rule;
};

}  // namespace normtune::testing
