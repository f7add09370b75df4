// How the candidates of a sweep are searched. Each strategy is a file of this folder and a line in strategies.cpp. Pure;
// what they do and why: docs/strategies.md.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/sampler.h"
#include "measure/stop_rule.h"
#include "measure/trial_order.h"

namespace normtune {

/// A problem whose trials are to be scheduled. A trial is an index into its candidates.
struct ScheduledProblem {
    const Problem& problem;
    const std::vector<Candidate>& candidates;
    const StopRule& stop_rule;
    double round_time_us;  // device time after which a round ends, once it has a sample
    std::uint64_t seed;
};

/// Of a problem's share of the budget: for the finals; and of what is left when a batch begins: to build it.
struct BudgetShares {
    double finals = 0.2;
    double build = 0.5;
};

/// Decides which trials of one problem are measured next, and when each is measured enough.
class Scheduler {
public:
    struct Stop {
        std::size_t contender;
        StopReason reason;
    };

    /// What `of` refers to outlives the scheduler.
    explicit Scheduler(const ScheduledProblem& of) : of_(of) {}
    virtual ~Scheduler() = default;

    /// Brings trials, which come in ascending order, into the order in which they are tried, the first one last: they are
    /// taken off the end. By default at random: every batch is then a sample of the whole space, and so is what a budget
    /// leaves time for.
    virtual void order(std::vector<std::size_t>& trials, const Experience& experience) const;
    /// How many of so many trials that are left are built, and then measured side by side.
    virtual std::size_t batch_size(std::size_t left) const;
    virtual double round_time_us() const { return of_.round_time_us; }
    virtual BudgetShares shares() const { return {}; }
    /// The fastest trial so far takes part in each later batch: the incumbent. Kernels of trials that were not dropped
    /// then stay built until the next batch.
    virtual bool has_incumbent() const { return false; }

    /// So many contenders take their rounds together from now on.
    virtual void begin(std::size_t contenders) = 0;
    /// After a round of it, with all rounds so far; `twin` may be null.
    virtual void take(std::size_t contender, const Series& series, const Series* twin) = 0;
    /// It failed.
    virtual void leave(std::size_t contender) = 0;
    /// After a round of all contenders that go on: whose last one it was, and why.
    virtual std::vector<Stop> end_round(bool out_of_time) = 0;

protected:
    ScheduledProblem of_;
};

/// What is known of a problem when the next slice of a budget is given out.
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

class Strategy {
public:
    virtual ~Strategy() = default;
    virtual std::string_view name() const = 0;
    virtual std::unique_ptr<Scheduler> schedule(const ScheduledProblem& of) const = 0;
    /// Whose turn it is under a budget, and for how long; none: the sweep is over. By default each problem has one turn,
    /// and what is left is shared evenly by those that had none.
    virtual std::optional<Slice> next_slice(std::span<const ProblemState> problems, double budget_s, double left_s) const;
    /// It takes part of each problem's candidates, as many as `--trials` says, drawn at random.
    virtual bool draws() const { return false; }
    /// It looks for winners and may leave all others unmeasured: those that a race drops, and whole problems that the store
    /// of winners has. Otherwise every trial is measured alike, and can be twice in the same rounds.
    virtual bool wants_winners_alone() const { return false; }
    /// Schedulers learn from problems that were measured before (Experience).
    virtual bool learns() const { return false; }
};

/// All of them, the default first.
std::span<const Strategy* const> strategies();
/// Null: there is none of that name.
const Strategy* find_strategy(std::string_view name);
/// In the same order.
std::vector<std::string> strategy_names();

/// Every trial until the stop rule ends it.
std::unique_ptr<Scheduler> measure_alike(const ScheduledProblem& of);

/// Rounds until no contender but the incumbent, who is the last of them, goes on. False: nothing can be measured any more.
bool measure_batch(Scheduler& scheduler, std::size_t trials, bool with_incumbent, BatchSampler& sampler);

}  // namespace normtune
