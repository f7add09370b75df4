#include "devices/replay/recorded_times.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace normtune {

double normal_draw(Random& random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.unit()));  // 1 − u keeps the logarithm finite
    return radius * std::cos(2 * std::numbers::pi * random.unit());
}

RecordedTimes::RecordedTimes(const Measurement& measurement) : measurement_(&measurement) {
    constexpr double normal_p80 = 0.8416212335729143;
    if (measurement.p50_us > 0) {
        sigma_ = (measurement.p80_us - measurement.p20_us) / (2 * normal_p80) / measurement.p50_us;
    }
}

void RecordedTimes::begin_round(Random& random) {
    const std::vector<Round>& rounds = measurement_->rounds;
    const std::size_t later = rounds.size() > 1 ? 1 + random.below(rounds.size() - 1) : 0;
    round_us_ = rounds[next_ < rounds.size() ? next_ : later].median_us;
    ++next_;
}

double RecordedTimes::sample_us(Random& random) const {
    constexpr double least = 0.1;  // of the median: a normal distribution has no bound, a time has
    return round_us_ * std::max(least, 1 + sigma_ * normal_draw(random));
}

}  // namespace normtune
