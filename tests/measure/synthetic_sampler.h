// Contenders of known times, with noise, with drift that a round has in common, and with failures.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "devices/replay/recorded_times.h"
#include "measure/sampler.h"
#include "support/random.h"

namespace normtune::testing {

class SyntheticSampler : public BatchSampler, public FinalsSampler {
public:
    /// A trial's time is by its number; all trials are measured until finals begin.
    SyntheticSampler(std::vector<double> times_us, double sigma, std::uint64_t seed)
        : times_us_(std::move(times_us)), sigma_(sigma), random_(seed), contenders_(times_us_.size()) {
        for (std::size_t i = 0; i < contenders_.size(); ++i) {
            contenders_[i].trial = i;
        }
    }

    std::map<std::size_t, int> fails_in_round;  // trial → the round of all that it takes part in, from 1
    std::set<std::size_t> wrong;                // of trials, when they are looked at after the finals' rounds
    bool lost_when_looked_at = false;
    std::optional<int> lost_in_round;
    int rounds_until_time_is_over = 1 << 20;
    bool twins = false;
    std::pair<std::size_t, int> interrupted{0, 0};  // trial, and the round in which it takes 1.3 times as long

    std::vector<StopReason> reasons() const {
        std::vector<StopReason> out;
        for (const Contender& contender : contenders_) {
            out.push_back(contender.reason);
        }
        return out;
    }
    std::size_t stopped_by(StopReason reason) const {
        return static_cast<std::size_t>(
            std::count_if(contenders_.begin(), contenders_.end(), [&](const Contender& c) { return c.reason == reason; }));
    }
    const std::vector<std::size_t>& failed() const { return failed_; }
    int rounds() const { return rounds_; }
    int looks() const { return looks_; }

    bool take_round(const std::vector<bool>& running) override {
        if (++rounds_ == lost_in_round) {
            return false;
        }
        const double drift = std::exp(0.1 * normal_draw(random_));
        for (std::size_t i = 0; i < running.size(); ++i) {
            Contender& contender = contenders_[i];
            if (!running[i]) {
                continue;
            }
            const auto failure = fails_in_round.find(contender.trial);
            if (++taken_[contender.trial]; failure != fails_in_round.end() && failure->second == taken_[contender.trial]) {
                contender.failed = true;
                failed_.push_back(contender.trial);
                continue;
            }
            const bool longer = interrupted == std::pair(contender.trial, taken_[contender.trial]);
            const double us = times_us_[contender.trial] * drift * (longer ? 1.3 : 1);
            contender.series.add(one_sample(us * std::exp(sigma_ * normal_draw(random_))));
            contender.twin.add(one_sample(us * std::exp(50 * sigma_ * normal_draw(random_))));
        }
        return true;
    }
    bool look_at_timed() override {
        ++looks_;
        for (Contender& contender : contenders_) {
            if (wrong.contains(contender.trial)) {
                contender.failed = true;
                failed_.push_back(contender.trial);
            }
        }
        return !lost_when_looked_at;
    }
    const Series* series(std::size_t i) const override { return contenders_[i].failed ? nullptr : &contenders_[i].series; }
    const Series* twin(std::size_t i) const override { return twins ? &contenders_[i].twin : nullptr; }
    bool out_of_time() const override { return rounds_ >= rounds_until_time_is_over; }
    void stop(std::size_t i, StopReason reason) override { contenders_[i].reason = reason; }
    void begin(std::span<const std::size_t> trials) override {
        contenders_.assign(trials.size(), {});
        for (std::size_t i = 0; i < trials.size(); ++i) {
            contenders_[i].trial = trials[i];
        }
    }

private:
    static SampleBatch one_sample(double us) {
        SampleBatch batch;
        batch.us = {us};
        batch.timer = "synthetic";
        return batch;
    }
    struct Contender {
        std::size_t trial = 0;
        Series series{};
        Series twin{};
        bool failed = false;
        StopReason reason = StopReason::none;
    };

    std::vector<double> times_us_;
    double sigma_;
    Random random_;
    std::vector<Contender> contenders_;
    std::map<std::size_t, int> taken_;
    std::vector<std::size_t> failed_;
    int rounds_ = 0;
    int looks_ = 0;
};

}  // namespace normtune::testing
