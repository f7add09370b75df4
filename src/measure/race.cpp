#include "measure/race.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "measure/statistics.h"

namespace normtune {

namespace {

/// Noise that is always assumed of one paired ratio: timers tick (as in measure/ranking.cpp).
constexpr double least_deviation = 1e-3;
/// The noise is read from this quantile of absolute values: one in ten may be an interruption, but two states that a
/// kernel switches between are noise. Over a normal variable's standard deviation it is `quantile_of_normal`, and it
/// uses this share of what n of them tell (its asymptotic efficiency).
constexpr double noise_quantile = 0.9;
constexpr double quantile_of_normal = 1.6449;
constexpr double efficiency = 0.64;

}  // namespace

Race::Race(std::size_t contenders, std::size_t configurations, const RaceRule& rule, std::vector<double> noise)
    : rule_(rule), running_(contenders, true), logs_(contenders), steps_(std::move(noise)) {
    const auto others = static_cast<double>(std::max<std::size_t>(configurations, 2) - 1);
    const int looks = std::max(1, rule.most_rounds - 1);
    level_ = (1 - rule.confidence) / (others * looks);
}

std::size_t Race::left() const {
    return static_cast<std::size_t>(std::count(running_.begin(), running_.end(), true));
}

void Race::take(std::size_t contender, double median_us) {
    logs_[contender].push_back(std::log(median_us));
}

double Race::mean(std::size_t contender) const {
    const std::vector<double>& logs = logs_[contender];
    return std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
}

// The noise of one round, from all that run: how much each moved since the last round beside the others.
void Race::note_noise() {
    std::vector<double> moves;
    for (std::size_t i = 0; i < logs_.size(); ++i) {
        if (running_[i]) {
            moves.push_back(logs_[i].back() - *(logs_[i].end() - 2));
        }
    }
    if (moves.size() < 2) {
        return;
    }
    const double common = median(moves);
    const auto count = static_cast<double>(moves.size());
    for (const double move : moves) {
        // The common one was taken from the same moves, which makes what is left of them smaller.
        steps_.push_back(std::abs(move - common) * std::sqrt(count / (count - 1)));
    }
}

double Race::paired_deviation(std::size_t a, std::size_t b) const {
    const auto n = static_cast<double>(logs_[a].size());
    const double difference = mean(a) - mean(b);
    double squares = 0;
    for (std::size_t r = 0; r < logs_[a].size(); ++r) {
        const double off = logs_[a][r] - logs_[b][r] - difference;
        squares += off * off;
    }
    return std::sqrt(squares / (n - 1));
}

std::vector<std::size_t> Race::by_mean() const {
    std::vector<std::size_t> order;
    std::vector<double> means(logs_.size());
    for (std::size_t i = 0; i < logs_.size(); ++i) {
        if (running_[i]) {
            order.push_back(i);
            means[i] = mean(i);
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return means[a] < means[b]; });
    return order;
}

std::vector<std::size_t> Race::end_round() {
    ++rounds_;
    std::vector<std::size_t> out;
    const std::vector<std::size_t> order = by_mean();
    if (order.size() < 2) {
        return out;
    }
    const std::size_t best = order.front();
    if (rounds_ == 1) {
        const double most = mean(best) + std::log(rule_.hopeless);
        std::copy_if(order.begin(), order.end(), std::back_inserter(out), [&](std::size_t i) { return mean(i) > most; });
    } else if (rounds_ <= rule_.most_rounds) {
        note_noise();
        // A change from round to round holds the noise of two rounds, as a paired ratio holds that of two contenders.
        const double usual = std::max(least_deviation, quantile(steps_, noise_quantile) / quantile_of_normal);
        const int degrees = std::max(1, static_cast<int>(efficiency * static_cast<double>(steps_.size())));
        const double t = student_t_quantile(level_, degrees);
        for (std::size_t place = 1; place < order.size(); ++place) {
            const std::size_t i = order[place];
            const double deviation = std::max(usual, paired_deviation(i, best));
            const double least_lead = mean(i) - mean(best) - t * deviation / std::sqrt(static_cast<double>(rounds_));
            const double needed = place < rule_.keep ? 0 : -std::log1p(rule_.indifference);
            if (least_lead > needed) {
                out.push_back(i);
            }
        }
    }
    std::sort(out.begin(), out.end());
    for (const std::size_t i : out) {
        running_[i] = false;
    }
    return out;
}

}  // namespace normtune
