#include "measure/rotation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace normtune {

std::int64_t cold_rotation_bytes(const DeviceInfo& device, int over_cache) {
    constexpr int least = 4;
    constexpr int on_gpu = 32;
    constexpr int part_of_memory = 8;
    if (over_cache > 0) {
        return over_cache * device.cache_bytes;
    }
    if (device.backend != Backend::cuda && device.backend != Backend::hip) {
        return least * device.cache_bytes;
    }
    return std::max(least * device.cache_bytes, std::min(on_gpu * device.cache_bytes, device.memory_bytes / part_of_memory));
}

std::string rotation_mark(const DeviceInfo& device, int over_cache) {
    const bool own = over_cache == 0 || cold_rotation_bytes(device, over_cache) == cold_rotation_bytes(device, 0);
    return own ? std::string() : fmt::format("/rotation{}", over_cache);
}

Windows::Windows(int sets, int launches)
    : sets_(sets), launches_((launches + sets - 1) / sets * sets), count_((sets + launches - 1) / launches) {}

Window Windows::operator[](std::int64_t sample) const {
    if (count_ == 1) {
        return {0, launches_};
    }
    const std::int64_t window = sample % count_;
    const auto first = static_cast<int>(sets_ * window / count_);
    return {first, static_cast<int>(sets_ * (window + 1) / count_) - first};
}

int Windows::most_launches() const {
    return count_ == 1 ? launches_ : (sets_ + count_ - 1) / count_;
}

int Windows::least_between() const {
    return count_ == 1 ? sets_ : sets_ / count_;
}

int Windows::touched(std::int64_t samples) const {
    return samples >= count_ ? sets_ : (*this)[samples].first;
}

int launches_per_sample(double sample_us, double expected_us, double measured_us, int most) {
    double launch_us = expected_us;
    while (measured_us >= 4 * launch_us) {
        launch_us *= 4;
    }
    return static_cast<int>(std::clamp(std::ceil(sample_us / launch_us), 1.0, static_cast<double>(most)));
}

}  // namespace normtune
