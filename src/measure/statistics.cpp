#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace normtune {

namespace {

std::vector<double> sorted(std::span<const double> values) {
    std::vector<double> out(values.begin(), values.end());
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

double quantile(std::span<const double> values, double q) {
    std::vector<double> order(values.begin(), values.end());
    const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(order.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(order.begin(), at, order.end());
    const double above = at + 1 == order.end() ? *at : *std::min_element(at + 1, order.end());
    return std::lerp(*at, above, place - static_cast<double>(below));
}

double median(std::span<const double> values) {
    return quantile(values, 0.5);
}

Interval median_interval(std::span<const double> values, double confidence) {
    const std::vector<double> order = sorted(values);
    const std::size_t n = order.size();
    // Going inwards, each step of k adds P(Binomial(n, 1/2) = k) to either tail.
    double probability = std::exp2(-static_cast<double>(n));
    double tail = probability;
    std::size_t k = 0;
    while (2 * (k + 1) < n) {
        const double next = probability * static_cast<double>(n - k) / static_cast<double>(k + 1);
        if (1 - 2 * (tail + next) < confidence) {
            break;
        }
        probability = next;
        tail += next;
        ++k;
    }
    return {order[k], order[n - 1 - k], n > 1 ? 1 - 2 * tail : 0.0};
}

double student_t_tail(double t, int degrees) {
    const double theta = std::atan2(std::abs(t), std::sqrt(static_cast<double>(degrees)));
    const double cosine = std::cos(theta);
    const bool odd = degrees % 2 != 0;
    double term = odd ? cosine : 1.0;
    double sum = degrees == 1 ? 0.0 : term;
    for (int k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
        term *= cosine * cosine * (k - 1) / k;
        sum += term;
    }
    const double central = odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
    const double tail = std::max(0.0, (1 - central) / 2);
    return t >= 0 ? tail : 1 - tail;
}

double student_t_quantile(double tail, int degrees) {
    double low = 0;
    double high = 1;
    while (student_t_tail(high, degrees) > tail && high < 1e12) {
        low = high;
        high *= 2;
    }
    constexpr int halvings = 60;  // to the last digits
    for (int i = 0; i < halvings; ++i) {
        const double middle = (low + high) / 2;
        (student_t_tail(middle, degrees) > tail ? low : high) = middle;
    }
    return high;
}

}  // namespace normtune
