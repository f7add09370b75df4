// One problem of a sweep: build and verify, interleaved rounds, and the finals among the fastest.
#pragma once

#include <optional>
#include <vector>

#include "problem/rules.h"
#include "run/recorder.h"
#include "run/rounds.h"
#include "run/series.h"
#include "run/worker_session.h"

namespace normtune {

class ProblemRun {
public:
    /// All references outlive the run. `configurations` are all of the problem's trials, recorded ones included.
    ProblemRun(const SweepOptions& options, const DeviceInfo& device, const Problem& problem,
               const std::vector<Configuration>& configurations, WorkerSession& session, Recorder& recorder);

    /// Nothing is missing: every trial is recorded, and the finals are, too.
    bool complete() const;
    /// Runs what is missing. With a budget it stops in time, and trials may remain; one batch is always begun.
    /// Throws Interrupted, SystemError.
    void run(std::optional<double> budget_s);
    /// Trials without a record.
    std::uint64_t missing() const;
    const std::string& problem_key() const { return key_; }

private:
    struct Running {
        TrialId id = 0;
        Record record;
        Series series;
        bool stopped = false;
    };
    /// The copy or the empty launch, in the rounds of one batch.
    struct Reference {
        SampleKind kind;
        Series series;
        int failures = 0;
    };

    Record new_record(const Configuration& configuration) const;
    void record(Record record, Outcome outcome, const std::string& reason);
    void fail_all(std::vector<Running>& batch);
    std::vector<Running> build_batch();
    void measure_batch(std::vector<Running>& batch);
    void measure_round(std::vector<Running>& batch, std::vector<Reference>& references, int round);
    void take(Running& trial);
    void take(Reference& reference);
    void finish(Running& trial, const std::vector<Reference>& references, StopReason reason);
    void report(const std::vector<Running>& batch);

    const SweepOptions& options_;
    const DeviceInfo& device_;
    const Problem& problem_;
    const std::vector<Configuration>& configurations_;
    WorkerSession& session_;
    Recorder& recorder_;
    std::string key_;
    RoundTaker rounds_;
    CodeRules code_rules_;
    std::vector<TrialId> pending_;  // indices into configurations_, in the order in which they run, last first
    std::optional<Deadline> rounds_end_;
    std::optional<Failure> lost_;  // why the problem cannot be worked on any more
    std::int64_t rotation_bytes_ = 0;
    int batches_ = 0;
};

}  // namespace normtune
