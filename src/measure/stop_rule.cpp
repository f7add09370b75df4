#include "measure/stop_rule.h"

#include "measure/statistics.h"

namespace normtune {

StopReason StopRule::decide(std::span<const double> round_medians_us, double spent_us) const {
    constexpr double confidence = 0.95;
    const auto rounds = static_cast<int>(round_medians_us.size());
    if (rounds == 0) {
        return StopReason::none;
    }
    if (rounds >= least_rounds) {
        const Interval interval = median_interval(round_medians_us, confidence);
        const double half_width = (interval.high - interval.low) / 2;
        if (interval.coverage >= confidence && half_width <= relative_half_width * median(round_medians_us)) {
            return StopReason::confidence;
        }
    }
    if (rounds >= most_rounds) {
        return StopReason::sample_cap;
    }
    return spent_us >= time_cap_us ? StopReason::time_cap : StopReason::none;
}

}  // namespace normtune
