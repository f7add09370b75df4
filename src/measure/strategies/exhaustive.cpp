// All candidates, each measured until the stop rule ends it: for files that are compared trial by trial.
#include "measure/strategies/strategy.h"

namespace normtune {

namespace {

class MeasureAlike : public Scheduler {
public:
    using Scheduler::Scheduler;

    void begin(std::size_t contenders) override {
        running_.assign(contenders, true);
        reasons_.assign(contenders, StopReason::none);
    }
    void take(std::size_t contender, const Series& series, const Series* twin) override {
        const auto decide = [&](const Series& of) { return of_.stop_rule.decide(of.round_medians_us(), of.spent_us()); };
        const bool twin_goes_on = twin != nullptr && decide(*twin) == StopReason::none;
        reasons_[contender] = twin_goes_on ? StopReason::none : decide(series);
    }
    void leave(std::size_t contender) override { running_[contender] = false; }
    std::vector<Stop> end_round(bool out_of_time) override {
        std::vector<Stop> stops;
        for (std::size_t i = 0; i < running_.size(); ++i) {
            const StopReason reason = reasons_[i] == StopReason::none && out_of_time ? StopReason::time_cap : reasons_[i];
            if (running_[i] && reason != StopReason::none) {
                running_[i] = false;
                stops.push_back({i, reason});
            }
        }
        return stops;
    }

private:
    std::vector<bool> running_;
    std::vector<StopReason> reasons_;  // to stop after this round
};

class Exhaustive : public Strategy {
public:
    std::string_view name() const override { return "exhaustive"; }
    std::unique_ptr<Scheduler> schedule(const ScheduledProblem& of) const override { return measure_alike(of); }
};

}  // namespace

std::unique_ptr<Scheduler> measure_alike(const ScheduledProblem& of) {
    return std::make_unique<MeasureAlike>(of);
}

const Strategy& exhaustive_strategy() {
    static const Exhaustive strategy;
    return strategy;
}

}  // namespace normtune
