#include "report/page/scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/clock.h"

namespace normtune {
namespace {

constexpr double bend = 0.01;  // where the scale of losses turns logarithmic

/// The least of 1, 2, 5 times a power of ten that is `least` or more.
double nice_step(double least) {
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double step : {1.0, 2.0, 5.0}) {
        if (step * power >= least * (1 - 1e-9)) {
            return step * power;
        }
    }
    return 10 * power;
}

/// Multiples of a nice step from `low` to `high`, at most `most` + 1 of them.
std::vector<double> nice_values(double low, double high, int most) {
    const double step = nice_step((high - low) / most);
    const double first = std::ceil(low / step - 1e-9);
    std::vector<double> out;
    for (int i = 0; i <= most && (first + i) * step <= high + step * 1e-9; ++i) {
        out.push_back((first + i) * step);
    }
    return out;
}

std::string label(double value) {
    return fmt::format("{:.6g}", value == 0 ? 0.0 : value);
}

/// On a logarithmic axis: few decades have 1, 2, 5; many have powers of ten, not all of them.
std::vector<double> log_values(double low, double high) {
    constexpr double few = 8;
    constexpr double some = 300;
    constexpr int most = 6;
    if (high / low < few) {
        return nice_values(low, high, 5);
    }
    const double first = std::floor(std::log10(low));
    const double last = std::ceil(std::log10(high));
    const double stride = std::max(1.0, std::ceil((last - first) / most));
    std::vector<double> out;
    for (double decade = first; decade <= last; decade += stride) {
        for (const double digit : {1.0, 2.0, 5.0}) {
            const double value = digit * std::pow(10, decade);
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9) && (digit == 1 || high / low < some)) {
                out.push_back(value);
            }
        }
    }
    return out;
}

}  // namespace

Scale Scale::linear(double low, double high) {
    Scale out;
    constexpr double least_share = 5e-5;  // a fifth of it is a step that labels of six digits tell
    constexpr double least_span = 1e-9;
    const double largest = std::max(std::abs(low), std::abs(high));
    if (!(high - low >= std::max(largest * least_share, least_span))) {
        const double around = std::max(largest * 0.01, least_span);
        const double middle = low + (high - low) / 2;
        low = middle - around;
        high = middle + around;
    }
    const double step = nice_step((high - low) / 5);
    out.low_ = std::floor(low / step + 1e-9) * step;
    out.high_ = std::ceil(high / step - 1e-9) * step;
    for (const double value : nice_values(out.low_, out.high_, 6)) {
        out.ticks_.push_back({value, label(value)});
    }
    return out;
}

Scale Scale::log(double low, double high, const std::vector<double>& at) {
    Scale out;
    out.kind_ = Kind::log;
    constexpr double least_span = 1.02;
    const double around = std::max(std::pow(high / low, 0.04), least_span);
    out.low_ = low / around;
    out.high_ = high * around;
    for (const double value : at.empty() ? log_values(out.low_, out.high_) : at) {
        out.ticks_.push_back({value, label(value)});
    }
    return out;
}

Scale Scale::loss(double high) {
    Scale out;
    out.kind_ = Kind::loss;
    out.high_ = std::max(high, bend) * 1.1;
    out.ticks_ = {{0, "0"}};
    for (double value = bend; value <= out.high_; value *= 10) {
        out.ticks_.push_back({value, label(value * 100) + "%"});
    }
    return out;
}

Scale Scale::change(double low, double high) {
    Scale out = log(std::min(low, 1.0), std::max(high, 1.0));
    const bool wide = out.high_ / out.low_ > 4;
    out.ticks_.clear();
    if (wide) {
        for (const double value : log_values(out.low_, out.high_)) {
            out.ticks_.push_back({value, "×" + label(value)});
        }
    } else {
        for (const double percent : nice_values((out.low_ - 1) * 100, (out.high_ - 1) * 100, 6)) {
            out.ticks_.push_back({1 + percent / 100, std::abs(percent) < 1e-9 ? "0" : fmt::format("{:+.6g}%", percent)});
        }
    }
    return out;
}

Scale Scale::dates(double first, double last) {
    Scale out;
    out.low_ = first - 0.5;
    out.high_ = last + 0.5;
    constexpr std::size_t day_length = 10;  // "2026-11-20"
    const double step = std::max(1.0, nice_step((out.high_ - out.low_) / 5));
    for (double day = std::ceil(out.low_); day <= out.high_; day += step) {
        constexpr std::time_t seconds_a_day = 24 * 3600;
        out.ticks_.push_back({day, utc_timestamp(static_cast<std::time_t>(day) * seconds_a_day).substr(0, day_length)});
    }
    return out;
}

double Scale::place(double value) const {
    return kind_ == Kind::linear ? value : kind_ == Kind::log ? std::log(value) : std::asinh(value / bend);
}

double Scale::at(double value) const {
    if (kind_ == Kind::log && !(value > 0)) {
        return 0;
    }
    return std::clamp((place(value) - place(low_)) / (place(high_) - place(low_)), 0.0, 1.0);
}

}  // namespace normtune
