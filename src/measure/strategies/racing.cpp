// All candidates, the most promising first; those that are slower with confidence are dropped round by round.
#include <algorithm>

#include "measure/finals.h"
#include "measure/race.h"
#include "measure/strategies/strategy.h"

namespace normtune {

namespace {

constexpr double race_round_us = 100;     // of a race, and of the finals after it; on a GPU one sample
constexpr std::size_t most_in_race = 64;  // fewer kernels alternate, and the next race knows the best of this

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
        std::vector<double> noise = race_ ? race_->noise() : std::vector<double>();
        race_.emplace(contenders, of_.candidates.size(), rule, std::move(noise));
        reasons_.assign(contenders, StopReason::none);
    }
    void take(std::size_t contender, const Series& series, const Series*) override {
        race_->take(contender, series.round_medians_us().back());
        reasons_[contender] = of_.stop_rule.decide(series.round_medians_us(), series.spent_us());
    }
    void leave(std::size_t contender) override { race_->leave(contender); }
    std::vector<Stop> end_round(bool out_of_time) override {
        std::vector<Stop> stops;
        for (const std::size_t i : race_->end_round()) {
            stops.push_back({i, StopReason::dropped});
        }
        stop_if(stops, [&](std::size_t i) {
            reasons_[i] = reasons_[i] == StopReason::none && out_of_time ? StopReason::time_cap : reasons_[i];
            return reasons_[i] == StopReason::time_cap;
        });
        if (race_->over(of_.stop_rule.least_rounds)) {
            stop_if(stops, [&](std::size_t i) {
                reasons_[i] = reasons_[i] == StopReason::none ? StopReason::sample_cap : reasons_[i];
                return true;
            });
        }
        return stops;
    }

private:
    static constexpr RaceRule rule{.keep = most_finalists};

    template <typename Condition>
    void stop_if(std::vector<Stop>& stops, const Condition& condition) {
        for (std::size_t i = 0; i < reasons_.size(); ++i) {
            if (race_->running(i) && condition(i)) {
                race_->leave(i);
                stops.push_back({i, reasons_[i]});
            }
        }
    }

    std::optional<Race> race_;         // the latest; its noise is what the next one begins with
    std::vector<StopReason> reasons_;  // the stop rule's, after this round
};

class RacingStrategy : public Strategy {
public:
    std::string_view name() const override { return "racing"; }
    /// One candidate has nobody to race with.
    std::unique_ptr<Scheduler> schedule(const ScheduledProblem& of) const override {
        return of.candidates.size() > 1 ? std::make_unique<Racing>(of) : measure_alike(of);
    }
    std::optional<Slice> next_slice(std::span<const ProblemState> problems, double budget_s, double left_s) const override {
        return promising_slice(problems, budget_s, left_s);
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
