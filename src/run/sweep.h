// The pipeline: plan → build → verify → measure → record → rank → results. The parent process's side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/stop_rule.h"
#include "measure/strategies/strategy.h"
#include "problem/problem.h"
#include "run/candidate_choice.h"
#include "run/pairing.h"
#include "space/backend_traits.h"
#include "space/shard.h"
#include "space/space.h"
#include "store/results.h"

namespace normtune {

struct SweepOptions {
    std::vector<std::string> command;  // argv, for the records
    std::vector<Problem> problems;     // of all shards
    SearchSpace space;
    CandidateChoice candidates;  // of other providers
    Shard shard;                 // which of the problems are this sweep's
    Backend backend = Backend::cpu;
    std::vector<int> ordinals{0};  // of the backend's devices; each runs problems of its own
    std::string replay_script;     // replay only
    const Strategy* strategy = strategies().front();
    std::uint64_t most_trials_per_problem = 0;  // of a strategy that draws; 0: all
    double budget_s = 0;                        // 0: none. What did not fit is left out and said
    std::uint64_t seed = 0;
    bool cold = true;
    int over_cache = 0;            // cold: what the buffer sets take over the last-level cache; 0: as measure/rotation.h has it
    int processes = 1;             // whose rounds each trial that may win has
    int lock_clock_mhz = 0;        // the devices' clocks are held there during the sweep; 0: they are left alone
    Pairing pairs;                 // candidates that are measured side by side; where there are any, no finals are held
    bool twins = false;            // each trial twice in the same rounds, see SweepResult::twin
    bool verify_only = false;      // `normtune verify`: stop after verification
    bool batch_invariant = false;  // bits of rows alone and in batches are compared (verify/bits.h)
    bool deterministic = false;    // bits of dgamma from launch to launch are, and what differs is pruned; the space has the rule
    StopRule stop_rule;
    int samples_per_round = 5;
    double round_time_us = 2e4;                        // a round of a configuration takes about this much device time at most, or less
    double trial_timeout_s = 60;                       // building, verifying, or one round; beyond it the worker is killed
    std::string out_folder;                            // exists and is empty, or holds the journal to resume
    std::string worker_executable = "/proc/self/exe";  // run as `<it> worker …`, see run/worker/worker.h
    std::string store;                                 // file of the store of winners (store/winner_store.h); empty: none is read or filled
    bool resume = false;
    bool part_of_another = false;  // a step of selfcheck or gate, which nobody resumes by itself
    bool fresh = false;            // what the store has is measured again, and replaced

    bool compares_bits() const { return batch_invariant || deterministic; }
};

struct Progress {
    std::uint64_t trials_done = 0;
    std::uint64_t trials_total = 0;
    std::uint64_t faulty = 0;  // incorrect, crashed, timed_out, …
    double elapsed_s = 0;
    double trials_per_s = 0;
    double remaining_s = 0;   // an estimate; < 0: not known yet
    std::string problem_key;  // under way
    std::string doing;        // before its first trial: "filling 1.9 GiB"; else empty
    bool lasting = false;     // that may take seconds
};

/// Called often from the sweeping thread; must return quickly.
class ProgressSink {
public:
    virtual ~ProgressSink() = default;
    virtual void update(const Progress& progress) = 0;
    virtual void warn(const std::string& line) = 0;
    /// Nothing is wrong, but worth knowing.
    virtual void note(const std::string& line) { warn(line); }
};

struct SweepResult {
    Results results;                // also written to out_folder as results.csv, results.json, liger.csv
    Results twin;                   // with SweepOptions::twins: the same trials' second series, unranked; not in the journal
    std::vector<Record> under_way;  // what an interrupt left incomplete, by the rounds that it has; in no file
    bool interrupted = false;       // SIGINT or SIGTERM: results of what was done are written, resume goes on
    std::uint64_t incorrect = 0;
    std::uint64_t crashed = 0;  // crashed and timed_out
};

/// Throws InputError (the journal is of another selection or device, more trials than a sweep can hold), SystemError
/// (disk, worker cannot be started). With `resume` the trials that the journal has are not run again.
SweepResult run_sweep(const SweepOptions& selected, ProgressSink& progress);

/// The options of the sweep whose journal lies in `folder`, ready to resume it: `normtune sweep --resume DIR` alone.
/// Throws InputError.
SweepOptions options_from_journal(const std::string& folder);

/// The worker process's side: serves requests on the inherited descriptor until it is closed. Returns an exit code.
int serve_worker(int descriptor, Backend backend, int ordinal, const std::string& replay_script);

}  // namespace normtune
