// The rounds of one batch of trials: each measured once a round, beside the copy and the empty launch, in an order of
// the round's own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "measure/race.h"
#include "run/recorder.h"
#include "run/rounds.h"
#include "run/series.h"
#include "run/worker/worker_session.h"

namespace normtune {

/// A trial whose kernel is built and verified.
struct RunningTrial {
    TrialId id = 0;
    Record record;
    Series series;
    bool stopped = false;
    bool incumbent = false;        // it has its record already and takes part as the one to beat
    std::optional<Series> twin{};  // of the same kernel in the same rounds
};

/// Of a trial's work, for the estimate of the remaining time.
inline constexpr double part_of_building = 0.3;

/// What the rounds work on; all of it outlives them.
struct BatchContext {
    const SweepOptions& options;
    const Problem& problem;
    const std::vector<Candidate>& candidates;  // by TrialId
    WorkerSession& session;
    Recorder& recorder;
    RoundTaker& rounds;
    std::optional<Deadline> end;  // trials that go on then end with time_cap
    int number = 0;               // of the batch within the problem
};

class BatchRounds {
public:
    BatchRounds(const BatchContext& context, std::vector<RunningTrial>& batch);

    /// Both record every trial as it stops, and return a failure of the problem, after which trials may go on.
    /// Throw Interrupted, SystemError.
    /// Until the stop rule has stopped each trial.
    std::optional<Failure> measure();
    /// Until the race is over: who is out is recorded as dropped at once. The kernels of those who are left stay built.
    /// `candidates`: that race in the problem in all; `noise`: of the problem's races, kept up to date.
    std::optional<Failure> race(std::size_t candidates, std::vector<double>& noise);

private:
    /// The copy or the empty launch; twins have their own.
    struct Reference {
        SampleKind kind;
        Series series;
        int failures = 0;
    };

    void take_round();
    void take(RunningTrial& trial, Series& series);
    void take(Reference& reference);
    StopReason reason_to_stop(const RunningTrial& trial) const;
    void end(RunningTrial& trial, StopReason reason);
    Measurement measurement(const RunningTrial& trial, const Series& series, std::size_t side, StopReason reason) const;
    void report() const;
    bool any_running() const;

    const BatchContext& context_;
    std::vector<RunningTrial>& batch_;
    std::size_t sides_;                  // 2: with twins
    std::vector<Reference> references_;  // copy and empty launch of each side
    std::optional<Failure> lost_;
    int round_ = 0;
};

}  // namespace normtune
