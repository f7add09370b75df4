// The rounds of one batch of trials: each measured once a round, beside the copy and the empty launch, in an order of
// the round's own.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/sampler.h"
#include "run/recorder.h"
#include "run/rounds.h"
#include "run/worker/worker_sessions.h"

namespace normtune {

/// A trial whose kernel is built and verified.
struct RunningTrial {
    TrialId id = 0;
    Record record{};
    bool incumbent = false;  // it has its record already, which its rounds leave as it is
    bool failed = false;
    bool stopped = false;  // recorded, or failed
    Series series{};
    std::optional<Series> twin{};  // of the same kernel in the same rounds
};

/// Of a trial's work, for the estimate of the remaining time.
inline constexpr double part_of_building = 0.3;

/// What the rounds work on; all of it outlives them.
struct BatchContext {
    const SweepOptions& options;
    const Problem& problem;
    const std::vector<Candidate>& candidates;  // by TrialId
    WorkerSessions& sessions;
    Recorder& recorder;
    RoundTaker& rounds;
    std::string_view rotation_mark;  // measure/rotation.h
    std::optional<Deadline> end;
    int number = 0;                       // of the batch within the problem
    bool keeps_kernels = false;           // of trials that stop and were not dropped
    std::span<const TrialId> partners{};  // Pairing::partners of the candidates
    int process = 1;                      // above 1: all trials have their records, which get a repetition
};

/// Records each trial as it stops. take_round throws Interrupted, SystemError.
class BatchRounds : public BatchSampler {
public:
    BatchRounds(const BatchContext& context, std::vector<RunningTrial>& batch);

    bool take_round(const std::vector<bool>& running) override;
    const Series* series(std::size_t i) const override { return batch_[i].failed ? nullptr : &batch_[i].series; }
    const Series* twin(std::size_t i) const override { return batch_[i].twin ? &*batch_[i].twin : nullptr; }
    bool out_of_time() const override { return past(context_.end); }
    void stop(std::size_t i, StopReason reason) override;
    void report() const;
    /// Of each trial that has a round and is not complete what its rounds say.
    std::vector<Record> under_way() const;
    /// Why nothing of the problem can be measured any more.
    const std::optional<Failure>& lost() const { return lost_; }

private:
    /// The copy or the empty launch, launched as the trials are that it stands beside; twins have their own.
    struct Reference {
        SampleKind kind;
        bool dependent;
        std::size_t side;
        Series series;
        int failures = 0;
        std::string why;  // of the last failure
    };

    void keep_pairs_together(std::vector<std::size_t>& order) const;
    void take(RunningTrial& trial, Series& series);
    bool note(RunningTrial& trial, std::optional<Failure> failure);
    void take(Reference& reference);
    const Reference& reference(SampleKind kind, const Candidate& of, std::size_t side) const;
    Measurement measurement(const RunningTrial& trial, const Series& series, std::size_t side, StopReason reason) const;

    const BatchContext& context_;
    std::vector<RunningTrial>& batch_;
    std::size_t sides_;  // 2: with twins
    std::vector<Reference> references_;
    std::optional<Failure> lost_;
    int round_ = 0;
};

}  // namespace normtune
