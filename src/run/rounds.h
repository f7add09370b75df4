// Takes rounds: a batch of samples of one trial, of the copy or of the empty launch, throttled ones again.
#pragma once

#include <optional>
#include <string>

#include "measure/series.h"
#include "run/sweep.h"
#include "run/worker/worker_sessions.h"

namespace normtune {

class RoundTaker {
public:
    /// `purpose` keeps the seeds of two takers on one problem apart; `round_time_us`: device
    /// time after which a round ends, once it has a sample.
    RoundTaker(const SweepOptions& options, WorkerSessions& sessions, std::string purpose, double round_time_us);

    /// Adds one round to `series`. A throttled round is taken again while the series has repeats left, then kept.
    std::optional<Failure> take(Series& series, TrialId trial, const Candidate& candidate);
    /// Looks at what the trial's launches left in one buffer set, after its last round: right once and wrong later is Outcome::incorrect.
    std::optional<Failure> check(TrialId trial, const Candidate& candidate);
    /// `dependent`: SampleRequest.
    std::optional<Failure> take(Series& series, SampleKind reference, bool dependent);

private:
    SampleRequest request(SampleKind kind);
    template <typename Measure>
    std::optional<Failure> repeat_throttled(Series& series, Measure measure);

    const SweepOptions& options_;
    WorkerSessions& sessions_;
    std::string purpose_;
    double round_time_us_;
    std::uint64_t taken_ = 0;
    std::uint64_t checked_ = 0;
};

/// A trial that was measured has failed later: it has no time any more.
void note_failure(Record& record, Failure failure);

}  // namespace normtune
