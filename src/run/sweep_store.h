// What a sweep takes from the store of winners, and what it gives to it (docs/store.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/problem_trials.h"
#include "run/recorder.h"
#include "run/sweep.h"
#include "store/journal.h"
#include "store/winner_store.h"

namespace normtune {

/// A store that cannot be used costs a warning and nothing else: the sweep then measures everything.
class SweepStore {
public:
    /// All references outlive it. `options` are those of the shard: its problems are those of `plans` below.
    SweepStore(const SweepOptions& options, const DeviceInfo& device, ProgressSink& sink);

    /// Digest of the kernels that this run has, for the journal's header.
    const std::string& kernels() const { return identity_.kernels; }
    /// Narrows the plans of problems that need not be run to what the store has of them. Only a new sweep that races
    /// and need not be fresh asks: a resumed one goes on with what it began.
    void take(std::vector<ProblemTrials>& plans);
    /// Puts what was taken into the new journal; for a resumed one narrows the plans to what it took when it was new.
    /// Throws SystemError.
    void enter(std::vector<ProblemTrials>& plans, Journal& journal, JournalContents& contents) const;
    /// Stores the problems of `results` that this sweep has completed. `header`: of its journal.
    void keep(const Results& results, const JournalHeader& header, const Recorder& recorder);

private:
    WinnerIdentity identity_of(const Problem& problem) const;
    template <typename Work>
    void use(const Work& work);

    const SweepOptions& options_;
    ProgressSink& sink_;
    WinnerIdentity identity_;
    bool usable_ = false;
    std::vector<StoredProblem> taken_;
};

}  // namespace normtune
