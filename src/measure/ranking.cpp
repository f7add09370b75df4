#include "measure/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/statistics.h"

namespace normtune {
namespace {

/// Noise that is always assumed of one paired ratio: timers tick, so equal medians do not mean that there is none.
constexpr double least_deviation = 1e-3;

}  // namespace

bool told_apart(std::span<const double> slower_us, std::span<const double> best_us, std::size_t candidates,
                double confidence, double least_effect) {
    const std::size_t n = std::min(slower_us.size(), best_us.size());
    if (n < 2) {
        return false;
    }
    const auto pairs = static_cast<double>(candidates);
    const double level = (1 - confidence) / std::max(1.0, pairs * (pairs - 1));
    std::vector<double> ratios(n);
    for (std::size_t i = 0; i < n; ++i) {
        ratios[i] = std::log(slower_us[i] / best_us[i]);
    }
    const auto count = static_cast<double>(n);
    const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / count;
    double squares = 0;
    for (double r : ratios) {
        squares += (r - mean) * (r - mean);
    }
    const double deviation = std::max(std::sqrt(squares / (count - 1)), least_deviation);
    const double t = (mean - std::log1p(least_effect)) / (deviation / std::sqrt(count));
    return student_t_tail(t, static_cast<int>(n) - 1) < level;
}

Ranking rank(std::span<const Candidate> candidates, double confidence, double least_effect) {
    Ranking ranking;
    ranking.order.resize(candidates.size());
    std::iota(ranking.order.begin(), ranking.order.end(), std::size_t{0});
    std::sort(ranking.order.begin(), ranking.order.end(), [&](std::size_t a, std::size_t b) {
        const Candidate& left = candidates[a];
        const Candidate& right = candidates[b];
        return left.p50_us != right.p50_us ? left.p50_us < right.p50_us : left.key < right.key;
    });
    for (std::size_t i : ranking.order) {
        const std::size_t best = ranking.order.front();
        if (i == best || !told_apart(candidates[i].rounds_us, candidates[best].rounds_us, candidates.size(), confidence,
                                     least_effect)) {
            ranking.tied.push_back(i);
        }
    }
    return ranking;
}

std::vector<std::size_t> finalists(std::span<const Candidate> candidates, double within, std::size_t most) {
    const Ranking ranking = rank(candidates);
    std::vector<std::size_t> chosen;
    for (std::size_t i : ranking.order) {
        const bool near = candidates[i].p50_us <= candidates[ranking.order.front()].p50_us * (1 + within);
        const bool tied = std::find(ranking.tied.begin(), ranking.tied.end(), i) != ranking.tied.end();
        if (chosen.size() < most && (near || tied)) {
            chosen.push_back(i);
        }
    }
    return chosen;
}

}  // namespace normtune
