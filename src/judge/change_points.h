// Where the level of a series changed that is asked about every night: pure.
//
// The change-point model of Hawkins, Qiu and Kang ("The changepoint model for statistical process control", Journal of Quality Technology
// 35, 2003): at each night every split of the present segment is a two-sample test, and the segment ends where one of them is significant.
// Only what was known on a night decides on it, so one pass over a series gives the alarms that asking every night gave.
//
// The two-sample test is Welch's t (Biometrika 34, 1947) for means of autocorrelated nights. Noise is taken as autoregressive of order 1,
// with σ from the median distance to the levels and φ from products of residuals within three deviations: a mean of n nights then has the
// variance σ²(1+φ) / ((1−φ)n). Of the few nights after a split the variance is moderated (Smyth, Statistical Applications in Genetics and
// Molecular Biology 3, 2004): a noisy week is judged by its own noise as far as it is known.
//
// False alarms: `false_alarms_a_night` is shared by the lengths that are looked at, half of it by those of 3 to 5 nights, and each test
// keeps within its share. By Bonferroni's inequality their sum bounds the expected number of false alarms a night. As much again goes to
// splits at nights on which something changed that may move the level (Genovese, Roeder and Wasserman, "False discovery control with
// p-value weighting", Biometrika 93, 2006): such a night has what the nights since the last one saved, thirty at most. Where it lies is
// decided by the same weights, as odds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normtune {

struct ChangePointSettings {
    double false_alarms_a_night = 1.0 / 600;
};

/// A difference of two levels of logarithms, with its 95 % interval.
struct LevelChange {
    double size = 0;
    double low = 0;
    double high = 0;
    double p = 1;  // two-sided: of a difference as large where there is none
};

struct ChangePoint {
    std::size_t night = 0;     // the first of the new level
    std::size_t earliest = 0;  // it may have been any from this one on
    std::size_t latest = 0;    // to this one
    std::size_t found = 0;     // the night on which it was told
    double p = 1;              // on that night, for all the splits that it looked at together
    LevelChange change;        // between the segments on both sides
};

/// `values`: a logarithm a night. `noise`: how much noisier than usual a night was, 1: as usual; empty: not known. In order of nights.
/// `changed`: nights on which something changed that may move the level; empty: not known.
std::vector<ChangePoint> find_change_points(std::span<const double> values, std::span<const double> noise,
                                            const std::vector<bool>& changed = {}, const ChangePointSettings& settings = {});

/// How much the level differs between [begin, split) and [split, end); the scale of noise is that of the nights up to `end`.
LevelChange change_at(std::span<const double> values, std::span<const double> noise, std::size_t begin, std::size_t split, std::size_t end);

/// How much noisier than usual each night was, from several series of the same nights (NaN: not measured): what the usual series differs
/// by from the night before, as the median of three nights, which one change of all of them does not move. At least 1.
std::vector<double> noise_of_nights(std::span<const std::vector<double>> series, std::size_t nights);

}  // namespace normtune
