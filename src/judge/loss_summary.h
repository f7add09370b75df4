// Losses of one rule over several problems or shapes. Pure.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>

namespace normtune {

/// `mean` (geometric, of 1 + loss, less 1) and `worst` are over those judged.
template <typename Place>
struct LossSummary {
    std::size_t places = 0;
    std::size_t judged = 0;
    double mean = 0;
    double worst = 0;
    const Place* worst_on = nullptr;

    /// Empty: it cannot be judged there.
    void add(const Place& place, const std::optional<double>& loss) {
        ++places;
        if (!loss) {
            return;
        }
        sum_ += std::log1p(*loss);
        mean = std::expm1(sum_ / static_cast<double>(++judged));
        if (worst_on == nullptr || *loss > worst) {
            worst = *loss;
            worst_on = &place;
        }
    }

private:
    double sum_ = 0;
};

}  // namespace normtune
