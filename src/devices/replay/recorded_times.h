// The samples that a recorded trial gives when it is measured again: its rounds, and the spread within them. Pure.
#pragma once

#include "support/random.h"
#include "trial/measurement.h"

namespace normtune {

/// One measuring of a record's trial, from its first round on. It plays the recorded rounds in their order, so that
/// trials that were measured together keep what they had in common, and what sets the first round apart (clocks,
/// caches); once they are over, each further round is drawn from the recorded ones but the first. A sample is its
/// round's median with normal noise of the record's own spread, (p80 − p20) of all its samples.
class RecordedTimes {
public:
    /// Outlives this; has rounds.
    explicit RecordedTimes(const Measurement& measurement);

    void begin_round(Random& random);
    double sample_us(Random& random) const;
    int launches_per_sample() const { return measurement_->launches_per_sample; }

private:
    const Measurement* measurement_;
    double sigma_ = 0;  // of one sample, relative
    double round_us_ = 0;
    std::size_t next_ = 0;  // round
};

/// Standard normal, by Box and Muller.
double normal_draw(Random& random);

}  // namespace normtune
