// Who won, and who is not significantly slower. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace normtune {

struct Entrant {
    std::string key;  // configuration key: the tie-break, so that equal data give equal answers
    double p50_us = 0;
    std::vector<double> rounds_us;  // medians of interleaved rounds: round i of every entrant was taken together
};

struct Ranking {
    std::vector<std::size_t> order;  // the winner, then the others by p50, ties in p50 by key
    std::vector<std::size_t> tied;   // those not significantly slower than the one of the least p50, in that order
};

/// Is one of `entrants` configurations slower than the best of them, by their rounds? See rank.
bool significantly_slower(std::span<const double> slower_us, std::span<const double> best_us, std::size_t entrants,
                          double confidence = 0.95, double least_effect = 0.0);

/// Entrant i is significantly slower than the best where its rounds, paired with the best's, are slower with confidence: the
/// lower bound of Student's t for the mean logarithm of the paired ratios lies above log(1 + least_effect). The level
/// is (1 − confidence) / (K·(K−1)) for K entrants: whichever of them came out best, and whichever it is compared
/// with, the chance that equal entrants are called different anywhere stays below 1 − confidence. Rounds are paired by
/// index over as many as both have; with one round nothing is significant. Why this interval: docs/measuring.md.
///
/// The winner is the one of the least p50, or one that is not significantly slower and whose paired rounds are faster
/// in the trimmed mean: where kernels switch between two states from round to round, medians jump and means do not.
Ranking rank(std::span<const Entrant> entrants, double confidence = 0.95, double least_effect = 0.0);

/// The ratio whose logarithm is the mean of the logarithms of the paired ratios. At least one round pairs.
double paired_ratio(std::span<const double> rounds_us, std::span<const double> over_us);

/// Half the confidence interval of paired_ratio's logarithm. Infinite where fewer than two rounds pair.
double paired_half_width(std::span<const double> rounds_us, std::span<const double> over_us, double confidence = 0.95);

/// How well those that tie are known beside the winner: the median, over them, of two standard errors of the mean
/// logarithm of the paired ratios. 0 where nothing ties, infinite where there is one round.
double resolution(std::span<const Entrant> entrants);

/// Which entrants deserve fresh samples: the tied ones and those whose p50 is within `within` (0.05: 5%) of the best,
/// the fastest `most` of these, in the order of the ranking.
std::vector<std::size_t> finalists(std::span<const Entrant> entrants, double within, std::size_t most);

}  // namespace normtune
