// Order statistics of samples. Pure.
#pragma once

#include <span>
#include <vector>

namespace normtune {

/// Quantile q in [0, 1] with linear interpolation between order statistics (Hyndman and Fan's type 7, NumPy's default).
/// `values` need not be sorted and is not empty.
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);
/// The median of |x|, x of the standard normal distribution: what a median distance is over, to give a standard deviation.
inline constexpr double normal_median = 0.6744897501960817;

/// Distribution-free confidence interval of the median from order statistics: the narrowest symmetric pair of them
/// whose coverage 1 − 2·P(Binomial(n, ½) < k) reaches `confidence`. With too few values for that it is [min, max], and
/// `coverage` says what that is worth: 1 − 2^(1−n), so 95% takes six values.
struct Interval {
    double low = 0;
    double high = 0;
    double coverage = 0;
};
Interval median_interval(std::span<const double> values, double confidence);

/// P(T > t) of Student's t with `degrees` ≥ 1 (whole) degrees of freedom; the finite series of Abramowitz and
/// Stegun 26.7.
double student_t_tail(double t, int degrees);
/// The t that P(T > t) = `tail` belongs to, 0 < tail ≤ ½.
double student_t_quantile(double tail, int degrees);

}  // namespace normtune
