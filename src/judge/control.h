// What trials of the same code say of the difference between two runs: how much everything moved, and how much it scattered. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace normtune {

/// A pair of the same code.
struct ControlSample {
    double log_ratio = 0;
    double variance = 0;  // that its rounds explain
    double us = 0;        // its time before
};

/// Times of the second run are those of the first · exp(shift) + shift_us, but for a scatter.
struct Control {
    static constexpr std::size_t least_pairs = 12;  // fewer say too little

    std::size_t pairs = 0;
    double shift = 0;
    double shift_us = 0;
    double deviation = 0;  // of log(ratio) about these, beyond what rounds explain: its part that is relative to the time
    double deviation_us = 0;
    double degrees = 0;                  // of freedom of the scatter: few where its tails are heavy
    std::array<double, 3> covariance{};  // of (shift, shift_us): both variances, and between them

    bool known() const { return pairs >= least_pairs; }
    /// log(ratio) of a trial of the same code that takes so long.
    double shift_at(double us) const;
    /// What shift_at is uncertain by.
    double shift_variance_at(double us) const;
    /// Of the log(ratio) of one trial about shift_at.
    double variance_at(double us) const;
};

/// `usual_us`: the least scatter of a time. Fewer than least_pairs: it is not known.
Control find_control(std::span<const ControlSample> samples, double usual_us);

}  // namespace normtune
