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
/// Rounds without which a lead over the entrant of the least p50 says nothing.
constexpr std::size_t least_rounds_of_a_lead = 6;

/// Logarithms of the ratios of rounds that both have, paired by index.
std::vector<double> log_ratios(std::span<const double> rounds_us, std::span<const double> over_us) {
    std::vector<double> logs(std::min(rounds_us.size(), over_us.size()));
    for (std::size_t i = 0; i < logs.size(); ++i) {
        logs[i] = std::log(rounds_us[i] / over_us[i]);
    }
    return logs;
}

double mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of at least two values.
double deviation(std::span<const double> values) {
    const double middle = mean(values);
    double squares = 0;
    for (const double value : values) {
        squares += (value - middle) * (value - middle);
    }
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// The mean of the log ratios without the eighth at either end: an interrupted round is one. 0 with few rounds.
double lead(const Entrant& entrant, const Entrant& over) {
    std::vector<double> logs = log_ratios(entrant.rounds_us, over.rounds_us);
    if (logs.size() < least_rounds_of_a_lead) {
        return 0;
    }
    std::sort(logs.begin(), logs.end());
    const std::size_t trim = logs.size() / 8;
    return mean(std::span(logs).subspan(trim, logs.size() - 2 * trim));
}

}  // namespace

bool significantly_slower(std::span<const double> slower_us, std::span<const double> best_us, std::size_t entrants, double confidence,
                          double least_effect) {
    const std::vector<double> logs = log_ratios(slower_us, best_us);
    if (logs.size() < 2) {
        return false;
    }
    const auto pairs = static_cast<double>(entrants);
    const double level = (1 - confidence) / std::max(1.0, pairs * (pairs - 1));
    const double spread = std::max(deviation(logs), least_deviation);
    const double t = (mean(logs) - std::log1p(least_effect)) / (spread / std::sqrt(static_cast<double>(logs.size())));
    return student_t_tail(t, static_cast<int>(logs.size()) - 1) < level;
}

Ranking rank(std::span<const Entrant> entrants, double confidence, double least_effect) {
    Ranking ranking;
    ranking.order.resize(entrants.size());
    std::iota(ranking.order.begin(), ranking.order.end(), std::size_t{0});
    std::sort(ranking.order.begin(), ranking.order.end(), [&](std::size_t a, std::size_t b) {
        const Entrant& left = entrants[a];
        const Entrant& right = entrants[b];
        return left.p50_us != right.p50_us ? left.p50_us < right.p50_us : left.key < right.key;
    });
    for (std::size_t i : ranking.order) {
        const std::size_t best = ranking.order.front();
        if (i == best ||
            !significantly_slower(entrants[i].rounds_us, entrants[best].rounds_us, entrants.size(), confidence, least_effect)) {
            ranking.tied.push_back(i);
        }
    }
    if (ranking.tied.size() > 1) {
        std::size_t winner = ranking.tied.front();
        double least = 0;
        for (const std::size_t i : ranking.tied) {
            const double its = lead(entrants[i], entrants[ranking.order.front()]);
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

double paired_ratio(std::span<const double> rounds_us, std::span<const double> over_us) {
    return std::exp(mean(log_ratios(rounds_us, over_us)));
}

double paired_half_width(std::span<const double> rounds_us, std::span<const double> over_us, double confidence) {
    const std::vector<double> logs = log_ratios(rounds_us, over_us);
    if (logs.size() < 2) {
        return std::numeric_limits<double>::infinity();
    }
    const double error = std::max(deviation(logs), least_deviation) / std::sqrt(static_cast<double>(logs.size()));
    return student_t_quantile((1 - confidence) / 2, static_cast<int>(logs.size()) - 1) * error;
}

double resolution(std::span<const Entrant> entrants) {
    const Ranking ranking = rank(entrants);
    if (ranking.tied.size() < 2) {
        return 0;
    }
    const std::size_t best = ranking.order.front();
    std::vector<double> widths;
    for (const std::size_t i : ranking.tied) {
        const std::vector<double> logs = log_ratios(entrants[i].rounds_us, entrants[best].rounds_us);
        if (logs.size() < 2) {
            return std::numeric_limits<double>::infinity();
        }
        if (i != best) {
            widths.push_back(2 * deviation(logs) / std::sqrt(static_cast<double>(logs.size())));
        }
    }
    return median(widths);
}

std::vector<std::size_t> finalists(std::span<const Entrant> entrants, double within, std::size_t most) {
    const Ranking ranking = rank(entrants);
    std::vector<std::size_t> chosen;
    for (std::size_t i : ranking.order) {
        const bool near = entrants[i].p50_us <= entrants[ranking.order.front()].p50_us * (1 + within);
        const bool tied = std::find(ranking.tied.begin(), ranking.tied.end(), i) != ranking.tied.end();
        if (chosen.size() < most && (near || tied)) {
            chosen.push_back(i);
        }
    }
    return chosen;
}

}  // namespace normtune
