// Who won, and who cannot be told apart from the winner. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace normtune {

struct Candidate {
    std::string key;  // configuration key: the tie-break, so that equal data give equal answers
    double p50_us = 0;
    std::vector<double> rounds_us;  // medians of interleaved rounds: round i of every candidate was taken together
};

struct Ranking {
    std::vector<std::size_t> order;  // candidates by p50, ties in p50 by key
    std::vector<std::size_t> tied;   // those that cannot be told apart from order[0], order[0] included
};

/// Candidate i is told apart from the best where its rounds, paired with the best's, are slower with confidence:
/// the interval of the median of the paired ratios lies above 1 + least_effect.
Ranking rank(std::span<const Candidate> candidates, double confidence = 0.95, double least_effect = 0.0);

/// Which candidates deserve fresh samples: the tied ones and those within `within` of the best, at most `most`.
std::vector<std::size_t> finalists(std::span<const Candidate> candidates, double within, std::size_t most);

}  // namespace normtune
