#include "judge/change_text.h"

#include <cmath>

#include <fmt/format.h>

namespace normtune {

std::string change_text(double ratio) {
    if (std::isnan(ratio)) {
        return "-";
    }
    if (std::isinf(ratio) || ratio > 10 || ratio < 0.1) {
        return std::isinf(ratio) ? "from 0" : fmt::format("x{:.3g}", ratio);
    }
    const double percent = (ratio - 1) * 100;
    return fmt::format("{:+.1f}%", std::abs(percent) < 0.05 ? 0.0 : percent);  // never "-0.0%"
}

std::string interval_text(double low, double high) {
    constexpr double says_nothing = 10;
    const bool open_below = !(low > 1 / says_nothing);
    const bool open_above = !(high < says_nothing);
    return open_below && open_above ? "says nothing"
           : open_above             ? change_text(low) + " or more"
           : open_below             ? change_text(high) + " or less"
                                    : fmt::format("{} to {}", change_text(low), change_text(high));
}

}  // namespace normtune
