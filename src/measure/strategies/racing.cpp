// All candidates, the most promising first; those that are slower with confidence are dropped round by round. Why by this
// rule: docs/strategies.md.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/finals.h"
#include "measure/statistics.h"
#include "measure/strategies/strategy.h"

namespace normtune {

namespace {

constexpr double confidence = 0.99;  // that no candidate of a problem is dropped wrongly, over all looks
/// Beyond those that the finals take, who with confidence is not this much faster than the best is dropped, too.
constexpr double indifference = 0.005;
constexpr double hopeless = 1.5;          // times the best: out after one round
constexpr int most_rounds = 9;            // whoever is left then has been raced enough
constexpr double race_round_us = 100;     // of a race, and of the finals after it; on a GPU one sample
constexpr std::size_t most_in_race = 64;  // fewer kernels alternate, and the next race knows the best of this
/// Noise that is always assumed of one paired ratio: timers tick (as in measure/ranking.cpp).
constexpr double least_noise = 1e-3;
/// The noise is read from this quantile of absolute values: one in ten may be an interruption, but two states that a
/// kernel switches between are noise. Over a normal variable's standard deviation it is `quantile_of_normal`, and it
/// uses this share of what n of them tell (its asymptotic efficiency).
constexpr double noise_quantile = 0.9;
constexpr double quantile_of_normal = 1.6449;
constexpr double efficiency = 0.64;

class Racing : public Scheduler {
public:
    using Scheduler::Scheduler;

    void order(std::vector<std::size_t>& trials, const Experience& experience) const override {
        std::vector<bool> wanted(of_.candidates.size(), false);
        for (const std::size_t trial : trials) {
            wanted[trial] = true;
        }
        trials = experience.order(of_.problem, of_.candidates, of_.seed);
        std::erase_if(trials, [&](std::size_t trial) { return !wanted[trial]; });
        std::reverse(trials.begin(), trials.end());
    }
    /// Races of much the same size.
    std::size_t batch_size(std::size_t left) const override {
        const std::size_t races = std::max<std::size_t>(1, (left + most_in_race - 1) / most_in_race);
        return (left + races - 1) / races;
    }
    double round_time_us() const override { return race_round_us; }
    /// It takes a tenth of the samples that measuring alike does: less for the finals, and more to build.
    BudgetShares shares() const override { return {0.1, 0.75}; }
    bool has_incumbent() const override { return true; }

    void begin(std::size_t contenders) override {
        rounds_ = 0;
        running_.assign(contenders, true);
        logs_.assign(contenders, {});
        reasons_.assign(contenders, StopReason::none);
    }
    void take(std::size_t contender, const Series& series, const Series*) override {
        logs_[contender].push_back(std::log(series.round_medians_us().back()));
        reasons_[contender] = of_.stop_rule.decide(series.round_medians_us(), series.spent_us());
    }
    void leave(std::size_t contender) override { running_[contender] = false; }
    std::vector<Stop> end_round(bool out_of_time) override {
        ++rounds_;
        std::vector<Stop> stops;
        for (const std::size_t i : slower()) {
            running_[i] = false;
            stops.push_back({i, StopReason::dropped});
        }
        stop_those(stops, out_of_time ? StopReason::time_cap : StopReason::none,
                   [](StopReason reason) { return reason == StopReason::time_cap; });
        const auto left = static_cast<std::size_t>(std::count(running_.begin(), running_.end(), true));
        if (rounds_ >= most_rounds || (rounds_ >= of_.stop_rule.least_rounds && left <= most_finalists)) {
            stop_those(stops, StopReason::sample_cap, [](StopReason) { return true; });  // the finals decide the rest
        }
        return stops;
    }

private:
    /// Those that run and whose reason, or `otherwise` if the stop rule has none, is one to stop now.
    template <typename Condition>
    void stop_those(std::vector<Stop>& stops, StopReason otherwise, const Condition& now) {
        for (std::size_t i = 0; i < running_.size(); ++i) {
            const StopReason reason = reasons_[i] == StopReason::none ? otherwise : reasons_[i];
            if (running_[i] && now(reason)) {
                running_[i] = false;
                stops.push_back({i, reason});
            }
        }
    }

    double mean(std::size_t contender) const {
        const std::vector<double>& logs = logs_[contender];
        return std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    }

    // The noise of one round, from all that run: how much each moved since the last round beside the others.
    void note_noise(const std::vector<std::size_t>& running) {
        std::vector<double> moves;
        for (const std::size_t i : running) {
            moves.push_back(logs_[i].back() - *(logs_[i].end() - 2));
        }
        const double common = median(moves);
        const auto count = static_cast<double>(moves.size());
        for (const double move : moves) {
            // The common one was taken from the same moves, which makes what is left of them smaller.
            steps_.push_back(std::abs(move - common) * std::sqrt(count / (count - 1)));
        }
    }

    double paired_deviation(std::size_t a, std::size_t b) const {
        const double difference = mean(a) - mean(b);
        double squares = 0;
        for (std::size_t r = 0; r < logs_[a].size(); ++r) {
            const double off = logs_[a][r] - logs_[b][r] - difference;
            squares += off * off;
        }
        return std::sqrt(squares / (rounds_ - 1));
    }

    /// Who is out after this round, in the order of their numbers.
    std::vector<std::size_t> slower() {
        std::vector<std::size_t> order;
        std::vector<double> means(logs_.size());
        for (std::size_t i = 0; i < logs_.size(); ++i) {
            if (running_[i]) {
                order.push_back(i);
                means[i] = mean(i);
            }
        }
        std::vector<std::size_t> out;
        if (order.size() < 2) {
            return out;
        }
        if (rounds_ > 1) {
            note_noise(order);
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return means[a] < means[b]; });
        const std::size_t best = order.front();
        if (rounds_ == 1) {
            const double most = means[best] + std::log(hopeless);
            std::copy_if(order.begin(), order.end(), std::back_inserter(out), [&](std::size_t i) { return means[i] > most; });
        } else {
            const double others = static_cast<double>(std::max<std::size_t>(of_.candidates.size(), 2) - 1);
            const double level = (1 - confidence) / (others * (most_rounds - 1));
            // A change from round to round holds the noise of two rounds, as a paired ratio holds that of two contenders.
            const double usual = std::max(least_noise, quantile(steps_, noise_quantile) / quantile_of_normal);
            const int degrees = std::max(1, static_cast<int>(efficiency * static_cast<double>(steps_.size())));
            const double t = student_t_quantile(level, degrees);
            for (std::size_t place = 1; place < order.size(); ++place) {
                const std::size_t i = order[place];
                const double deviation = std::max(usual, paired_deviation(i, best));
                const double least_lead = means[i] - means[best] - t * deviation / std::sqrt(static_cast<double>(rounds_));
                if (least_lead > (place < most_finalists ? 0 : -std::log1p(indifference))) {
                    out.push_back(i);
                }
            }
        }
        std::sort(out.begin(), out.end());
        return out;
    }

    int rounds_ = 0;  // of this race
    std::vector<bool> running_;
    std::vector<std::vector<double>> logs_;  // of the medians, by contender and round
    std::vector<StopReason> reasons_;        // the stop rule's, after this round
    std::vector<double> steps_;              // of all races: |change from round to round, less the round's common one|
};

/// Kept of the budget, for second turns.
constexpr double reserve = 0.1;
/// Taken for a problem whose limit could not be measured.
constexpr double unknown_limit_ratio = 1.2;
/// Even a problem at the copy's speed has something to gain: gaps below a copy's own noise are not seen.
constexpr double least_gain = 1e-3;
/// Below this a second turn is not worth opening the problem again.
constexpr double least_slice_s = 0.5;

/// What more time may gain on a problem: the logarithm of how far its best is from a copy's speed, times the share of
/// its candidates that were never tried. Nothing is faster than the copy by much, so a problem at its limit gains nothing.
double promise(const ProblemState& state) {
    if (state.missing == 0) {
        return 0;
    }
    const double ratio = state.limit_ratio > 0 ? state.limit_ratio : unknown_limit_ratio;
    const double untried = static_cast<double>(state.missing) / static_cast<double>(state.trials);
    return std::max(std::log(ratio), least_gain) * untried;
}

class RacingStrategy : public Strategy {
public:
    std::string_view name() const override { return "racing"; }
    /// One candidate has nobody to race with.
    std::unique_ptr<Scheduler> schedule(const ScheduledProblem& of) const override {
        return of.candidates.size() > 1 ? std::make_unique<Racing>(of) : measure_alike(of);
    }
    /// First each problem once: the budget less a reserve, shared by the number of candidates that they lack; then the most
    /// promising one again and again, until nothing is missing.
    std::optional<Slice> next_slice(std::span<const ProblemState> problems, double budget_s, double left_s) const override {
        double to_visit = 0;
        double total = 0;
        std::optional<std::size_t> fresh;
        std::size_t most = 0;
        for (std::size_t i = 0; i < problems.size(); ++i) {
            if (!problems[i].visited) {
                to_visit += static_cast<double>(problems[i].missing + 8);
                fresh = fresh.value_or(i);
            }
            total += promise(problems[i]);
            most = promise(problems[i]) > promise(problems[most]) ? i : most;
        }
        if (left_s > 0 && fresh) {
            const double of_all = static_cast<double>(problems[*fresh].missing + 8) / to_visit;
            return Slice{*fresh, std::max(0.0, left_s - reserve * budget_s) * of_all};
        }
        if (left_s < least_slice_s || total <= 0) {
            return std::nullopt;
        }
        return Slice{most, std::min(left_s, std::max(left_s * promise(problems[most]) / total, least_slice_s))};
    }
    bool wants_winners_alone() const override { return true; }
    bool learns() const override { return true; }
};

}  // namespace

const Strategy& racing_strategy() {
    static const RacingStrategy strategy;
    return strategy;
}

}  // namespace normtune
