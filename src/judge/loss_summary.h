// Losses of one rule over several problems or shapes. Pure.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>

namespace normtune {

/// A loss, and half of its 95% interval; 0: it is known, as of what is the best itself; infinite: nothing says how far off it is.
struct LossEstimate {
    double loss = 0;
    double half_width = 0;
};

/// `mean` (geometric, of 1 + loss, less 1) and `worst` are over those judged.
template <typename Place>
struct LossSummary {
    std::size_t places = 0;
    std::size_t judged = 0;
    double mean = 0;
    double worst = 0;
    const Place* worst_on = nullptr;
    double worst_half_width = 0;

    /// Empty: it cannot be judged there.
    void add(const Place& place, const std::optional<LossEstimate>& one) {
        ++places;
        if (!one) {
            return;
        }
        sum_ += std::log1p(one->loss);
        const double half = one->half_width / (1 + one->loss);
        squares_ += half * half;
        mean = std::expm1(sum_ / static_cast<double>(++judged));
        if (worst_on == nullptr || one->loss > worst) {
            worst = one->loss;
            worst_on = &place;
            worst_half_width = one->half_width;
        }
    }

    /// Half of the 95% interval of `mean`, as far as measuring goes: of these very places, whose errors are independent.
    double mean_half_width() const { return judged == 0 ? 0 : (1 + mean) * std::sqrt(squares_) / static_cast<double>(judged); }

private:
    double sum_ = 0;
    double squares_ = 0;  // of half intervals of log(1 + loss)
};

}  // namespace normtune
