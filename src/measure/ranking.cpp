#include "measure/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "measure/statistics.h"

namespace normtune {
namespace {

/// Noise that is always assumed of one paired ratio: timers tick, so equal medians do not mean that there is none.
constexpr double least_deviation = 1e-3;
/// Rounds without which a lead over the candidate of the least p50 says nothing.
constexpr std::size_t least_rounds_of_a_lead = 6;

/// The mean logarithm of the ratios of paired rounds, without the eighth at either end: an interrupted round is one.
double lead(const Candidate& candidate, const Candidate& over) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(candidate.rounds_us.size(), over.rounds_us.size()); ++i) {
        ratios.push_back(std::log(candidate.rounds_us[i] / over.rounds_us[i]));
    }
    if (ratios.size() < least_rounds_of_a_lead) {
        return 0;
    }
    std::sort(ratios.begin(), ratios.end());
    const auto trim = static_cast<std::ptrdiff_t>(ratios.size() / 8);
    const double sum = std::accumulate(ratios.begin() + trim, ratios.end() - trim, 0.0);
    return sum / static_cast<double>(static_cast<std::ptrdiff_t>(ratios.size()) - 2 * trim);
}

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
    if (ranking.tied.size() > 1) {
        std::size_t winner = ranking.tied.front();
        double least = 0;
        for (const std::size_t i : ranking.tied) {
            const double its = lead(candidates[i], candidates[ranking.order.front()]);
            winner = its < least ? i : winner;
            least = std::min(least, its);
        }
        for (std::vector<std::size_t>* places : {&ranking.order, &ranking.tied}) {
            const auto at = std::find(places->begin(), places->end(), winner);
            std::rotate(places->begin(), at, at + 1);
        }
    }
    return ranking;
}

double resolution(std::span<const Candidate> candidates) {
    const Ranking ranking = rank(candidates);
    std::vector<double> widths;
    if (ranking.tied.size() < 2) {
        return 0;
    }
    const std::vector<double>& best = candidates[ranking.order.front()].rounds_us;
    for (const std::size_t i : ranking.tied) {
        const std::vector<double>& rounds = candidates[i].rounds_us;
        const std::size_t n = std::min(rounds.size(), best.size());
        if (i == ranking.order.front()) {
            continue;
        }
        if (n < 2) {
            return std::numeric_limits<double>::infinity();
        }
        double sum = 0;
        double squares = 0;
        for (std::size_t r = 0; r < n; ++r) {
            const double ratio = std::log(rounds[r] / best[r]);
            sum += ratio;
            squares += ratio * ratio;
        }
        const auto count = static_cast<double>(n);
        const double variance = std::max(0.0, (squares - sum * sum / count) / (count - 1));
        widths.push_back(2 * std::sqrt(variance / count));
    }
    return median(widths);
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
