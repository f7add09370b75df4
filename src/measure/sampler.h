// Who takes the samples that schedulers and finals ask for: a worker process, a recording, a test's synthetic noise.
#pragma once

#include <span>
#include <vector>

#include "measure/series.h"

namespace normtune {

/// Measures contenders side by side; they have numbers from 0.
class Sampler {
public:
    virtual ~Sampler() = default;
    /// One round of each contender that is marked. False: nothing of the problem can be measured any more.
    virtual bool take_round(const std::vector<bool>& running) = 0;
    /// What the contender gave so far; null: it failed.
    virtual const Series* series(std::size_t contender) const = 0;
    /// No time is left beyond the round that was taken.
    virtual bool out_of_time() const { return false; }
};

/// Contenders are the trials of a batch, and behind them the incumbent if there is one.
class BatchSampler : public Sampler {
public:
    /// A second series of the same kernel in the same rounds; null: there is none.
    virtual const Series* twin(std::size_t) const { return nullptr; }
    /// The contender's last round is over.
    virtual void stop(std::size_t contender, StopReason reason) = 0;
};

/// Contenders are trials that were measured before.
class FinalsSampler : public Sampler {
public:
    /// From now on these are measured, on fresh series.
    virtual void begin(std::span<const std::size_t> trials) = 0;
    /// After the last round: what was timed is looked at, and who is wrong has failed. False: as of take_round.
    virtual bool look_at_timed() { return true; }
};

}  // namespace normtune
