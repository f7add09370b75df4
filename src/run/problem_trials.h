// Which of a problem's kept configurations are tried.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "run/sweep.h"
#include "space/plan.h"

namespace normtune {

/// The trials of a problem, in the plan's order, and the plan's tallies as results keep them: where the strategy draws,
/// what it did not draw is one tally more ("random"). Memory grows with the draw, not with the space.
struct ProblemTrials {
    std::vector<Candidate> candidates;
    PlanSummary summary;
};

/// How many trials a sweep may still take; its problems, which are planned at once, share it. A record takes about a
/// kilobyte while the sweep runs, and a trial some milliseconds at the very least: beyond the usual number a sweep
/// would take days and more memory than most machines have.
class TrialAllowance {
public:
    explicit TrialAllowance(std::int64_t most = 4'000'000) : most_(most), left_(most) {}
    /// One more; false where there is none left.
    bool take() { return left_.fetch_sub(1, std::memory_order_relaxed) > 0; }
    std::int64_t most() const { return most_; }
    std::int64_t left() const { return left_.load(std::memory_order_relaxed); }

private:
    std::int64_t most_;
    std::atomic<std::int64_t> left_;
};

/// The candidates of other providers, after the problem's own trials; the plan counts them. A strategy that draws takes as many of a
/// folder's as of normtune's own.
void add_candidates(ProblemTrials& trials, const SweepOptions& options, const Problem& problem, const DeviceInfo& device);

/// Throws InputError: nothing of a folder is left on any problem of a whole sweep, and what took it.
void require_candidates(const SweepOptions& options, const std::vector<ProblemTrials>& plans);

/// Throws InputError: a whole sweep has nothing to run, and what took the most.
void require_trials(const SweepOptions& options, const std::vector<ProblemTrials>& plans);

/// Times of a dependent launch leave out what those of a plain one wait for. Throws InputError where a problem has own configurations of
/// both kinds; where another provider's differ from the others, what to warn of, else empty.
std::string mixed_launches(const std::vector<ProblemTrials>& plans);

/// Throws InputError where the allowance is spent.
ProblemTrials choose_trials(const Problem& problem, const SweepOptions& options, const BackendTraits& traits, const DeviceInfo& device,
                            TrialAllowance& allowance);

}  // namespace normtune
