// Order statistics of samples. Pure.
#pragma once

#include <span>
#include <vector>

namespace normtune {

/// Quantile q in [0, 1] with linear interpolation between order statistics (Hyndman and Fan's type 7, NumPy's default).
/// `values` need not be sorted and is not empty.
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);

/// Distribution-free confidence interval of the median from order statistics (binomial), at least `confidence`.
/// With too few values for that confidence it is [min, max].
struct Interval {
    double low = 0;
    double high = 0;
};
Interval median_interval(std::span<const double> values, double confidence);

}  // namespace normtune
