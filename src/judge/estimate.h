// A trial's time from its rounds, on a logarithmic scale, with what it is uncertain by. Pure; why these: docs/comparing.md.
#pragma once

#include <span>
#include <vector>

namespace normtune {

/// The natural logarithm of a time in microseconds; a difference of two is the logarithm of a ratio.
struct Estimate {
    double center = 0;
    double variance = 0;        // of `center`
    double degrees = 0;         // of freedom of `variance`; 0: it is not known
    int rounds = 0;             // what `center` is a mean of
    bool of_processes = false;  // of several, rather than rounds
};

/// Mean of the logarithms without the lowest and the highest fifth, with its Winsorised variance (Yuen 1974). One round gives no variance.
Estimate estimate_from_rounds(std::span<const double> medians_us);

/// Mean of the estimates of several processes, which are its rounds: what they differ by is all that it is uncertain by.
Estimate estimate_from_processes(std::span<const Estimate> processes);

/// From quantiles over all samples: the standard error of a normal sample's median, with the rounds as the independent
/// samples (`rounds` 0, not known: five). p20 or p80 NaN: no variance.
Estimate estimate_from_quantiles(double p20_us, double p50_us, double p80_us, int rounds);

/// What the variance of one round usually is: each estimate's own is trusted as far as its few rounds go, and not below
/// the usual (a moderated variance, as in Smyth 2004, one-sided). Of rounds the median is usual, for some are interrupted; of processes
/// the mean without the greatest in fifty, for a few trials in another state say what any trial may do.
class UsualNoise {
public:
    /// Of estimates with a known variance; times of one order of magnitude are taken together where there are enough.
    explicit UsualNoise(std::span<const Estimate> estimates);
    /// The estimate with its moderated variance and degrees of freedom.
    Estimate moderated(const Estimate& estimate) const;
    /// Of freedom that it gives an estimate beside the estimate's own; 0: too few are known for one.
    double degrees() const;

private:
    static constexpr int bins = 4;  // below 10, 100, 1000 us, and above
    double usual_[bins] = {};       // variance of one round
    bool known_ = false;
};

}  // namespace normtune
