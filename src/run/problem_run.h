// One problem of a sweep: build and verify, rounds as the strategy wants them, and the finals among the fastest.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "measure/strategies/strategy.h"
#include "run/batch_rounds.h"
#include "run/recorder.h"
#include "run/worker/worker_sessions.h"
#include "space/rules.h"

namespace normtune {

/// What the records tell of a problem's candidates so far.
MeasuredProblem measured_problem(const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder);

/// Every trial is recorded, and finals that have a winner unless no trial passed.
bool ranked(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder);

/// Nothing of the problem is missing: it is ranked, and what may win has been measured in all processes.
bool complete(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder);

class ProblemRun {
public:
    /// All references outlive the run. `candidates` are all of the problem's trials, recorded ones included.
    ProblemRun(const SweepOptions& options, const DeviceInfo& device, const Problem& problem, const std::vector<Candidate>& candidates,
               WorkerSessions& sessions, Recorder& recorder);

    /// Runs what is missing. With a budget it stops in time, and trials may remain; one batch is always begun. It can
    /// be run again then. `experience`: what problems like it have shown; `next`: asked for what is compiled
    /// while this one measures its last trials. Throws Interrupted, SystemError.
    using Next = std::function<std::optional<AheadRequest>()>;
    void run(std::optional<double> budget_s, const Experience& experience, const Next& next);
    /// Rounds in the session's process, the sweep's `process`th (2, 3, …), of all recorded trials that were not dropped and
    /// lack them. One that fails is recorded so, and the problem has its finals again. Throws as run does.
    void repeat(int process);
    /// What is to be compiled ahead for a run that begins now; none: nothing.
    std::optional<AheadRequest> beginning(const Experience& experience);
    /// Trials without a record.
    std::uint64_t missing() const { return pending_.size(); }
    /// Trials that were not significantly slower than the best and had no place in the finals.
    std::size_t unsettled() const { return unsettled_; }
    const std::string& problem_key() const { return key_; }
    /// p50 of the fastest so far over the copy's; 0: not known.
    double limit_ratio() const { return best_ ? best_->limit_ratio : 0; }

private:
    OpenRequest open_request() const;
    void say_what_is_filled();
    void hold_finals(std::optional<Deadline> end);
    void order_pending(const Experience& experience);
    std::vector<Candidate> next_batch() const;
    bool splits_a_pair(TrialId last, TrialId next) const { return !partners_.empty() && last != next && partners_[last] == next; }
    Record new_record(const Candidate& candidate) const;
    void record(Record record, Outcome outcome, const std::string& reason);
    void fail_all(std::vector<RunningTrial>& batch);
    std::vector<RunningTrial> build_batch(bool first);
    std::optional<RunningTrial> build(TrialId id);
    void queue_compiles(const Next& next);
    void measure(std::vector<RunningTrial>& batch);
    void free_kept();
    /// `p50_us`: in the race that is over; none: as recorded.
    void note_best(TrialId id, std::optional<double> p50_us);

    const SweepOptions& options_;
    const DeviceInfo& device_;
    const Problem& problem_;
    const std::vector<Candidate>& candidates_;
    WorkerSessions& sessions_;
    Recorder& recorder_;
    std::string key_;
    std::string rotation_mark_;
    std::unique_ptr<Scheduler> scheduler_;
    RoundTaker rounds_;
    CodeRules code_rules_;
    std::vector<TrialId> partners_;  // by TrialId; empty: no pairs
    std::vector<TrialId> pending_;   // indices into candidates_, in the order in which they run, last first
    std::optional<Deadline> rounds_end_;
    std::optional<Failure> lost_;  // why the problem cannot be worked on any more
    /// The fastest recorded trial that may win: the incumbent.
    struct Best {
        TrialId id;
        double p50_us;
        double limit_ratio;
    };
    std::optional<Best> best_;
    double fastest_failed_us_ = std::numeric_limits<double>::infinity();  // of those that had been measured
    std::vector<TrialId> kept_;                                           // whose kernels stayed built after their batch
    int batches_ = 0;
    int runs_ = 0;
    std::size_t unsettled_ = 0;
};

}  // namespace normtune
