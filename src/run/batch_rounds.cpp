#include "run/batch_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "run/tuning.h"
#include "support/clock.h"
#include "support/random.h"

namespace normtune {

namespace {

// Where in its work a trial is, for the estimate of the remaining time.
double part_done(std::size_t rounds, int least_rounds) {
    const double measured = std::min(1.0, static_cast<double>(rounds) / (least_rounds + 1));
    return part_of_building + (1 - part_of_building) * measured;
}

}  // namespace

BatchRounds::BatchRounds(const BatchContext& context, std::vector<RunningTrial>& batch)
    : context_(context), batch_(batch), sides_(context.options.twins ? 2 : 1) {
    for (std::size_t side = 0; side < sides_; ++side) {
        references_.push_back({SampleKind::copy, {}, 0});
        references_.push_back({SampleKind::empty, {}, 0});
    }
    for (RunningTrial& trial : batch_) {
        if (sides_ == 2) {
            trial.twin.emplace();
        }
    }
}

bool BatchRounds::any_running() const {
    return std::any_of(batch_.begin(), batch_.end(), [](const RunningTrial& t) { return !t.stopped && !t.incumbent; });
}

std::optional<Failure> BatchRounds::measure() {
    while (any_running()) {
        take_round();
        if (lost_) {
            break;
        }
        for (RunningTrial& trial : batch_) {
            const StopReason reason = trial.stopped ? StopReason::none : reason_to_stop(trial);
            if (reason != StopReason::none) {
                end(trial, reason);
                context_.session.drop(trial.id);
            }
        }
        report();
    }
    return lost_;
}

std::optional<Failure> BatchRounds::race(std::size_t candidates, std::vector<double>& noise) {
    Race race(batch_.size(), candidates, tuning::race, std::move(noise));
    while (any_running() && !race.over(context_.options.stop_rule.least_rounds)) {
        take_round();
        if (lost_) {
            break;
        }
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            if (batch_[i].stopped && race.running(i)) {
                race.leave(i);
            } else if (race.running(i)) {
                race.take(i, batch_[i].series.round_medians_us().back());
            }
        }
        for (const std::size_t i : race.end_round()) {
            end(batch_[i], StopReason::dropped);
            context_.session.drop(batch_[i].id);
        }
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            if (race.running(i) && reason_to_stop(batch_[i]) == StopReason::time_cap) {
                race.leave(i);
                end(batch_[i], StopReason::time_cap);
            }
        }
        report();
    }
    noise = race.noise();
    for (RunningTrial& trial : batch_) {
        if (!lost_ && !trial.stopped) {
            const StopReason reason = reason_to_stop(trial);
            end(trial, reason == StopReason::none ? StopReason::sample_cap : reason);
        }
    }
    return lost_;
}

StopReason BatchRounds::reason_to_stop(const RunningTrial& trial) const {
    const auto decide = [&](const Series& series) {
        return context_.options.stop_rule.decide(series.round_medians_us(), series.spent_us());
    };
    StopReason reason = decide(trial.series);
    if (trial.twin && decide(*trial.twin) == StopReason::none) {
        reason = StopReason::none;  // both go on
    }
    return reason == StopReason::none && past(context_.end) ? StopReason::time_cap : reason;
}

// Trials and references once each, in an order of its own, so that drift within the round favours none of them.
void BatchRounds::take_round() {
    const std::size_t of_trials = batch_.size() * sides_;
    std::vector<std::size_t> order(of_trials + references_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::string purpose = fmt::format("round order/{}/{}", context_.problem.key(), context_.number);
    shuffle(order, Random(mix_seed(context_.options.seed, purpose, static_cast<std::uint64_t>(round_++))));
    for (const std::size_t i : order) {
        if (lost_) {
            return;
        }
        if (i >= of_trials) {
            take(references_[i - of_trials]);
        } else if (RunningTrial& trial = batch_[i % batch_.size()]; !trial.stopped) {
            take(trial, i < batch_.size() ? trial.series : *trial.twin);
        }
        report();
    }
}

void BatchRounds::take(RunningTrial& trial, Series& series) {
    auto failure = context_.rounds.take(series, trial.id, context_.candidates[trial.id]);
    if (failure && failure->of_problem) {
        lost_ = std::move(failure);
    } else if (failure) {
        trial.stopped = true;
        if (trial.incumbent) {
            trial.record = *context_.recorder.find(context_.problem.key(), context_.candidates[trial.id].identity());
            trial.record.measurement.reset();
        }
        trial.record.timestamp = utc_timestamp();
        trial.record.outcome = failure->outcome;
        trial.record.reason = failure->reason;
        context_.recorder.add(std::move(trial.record));
        context_.session.drop(trial.id);
    }
}

void BatchRounds::take(Reference& reference) {
    if (reference.failures >= tuning::most_reference_failures) {
        return;
    }
    auto failure = context_.rounds.take(reference.series, reference.kind);
    if (failure && failure->of_problem) {
        lost_ = std::move(failure);
    } else if (failure && ++reference.failures == tuning::most_reference_failures) {
        context_.recorder.warn(fmt::format("{}: the {} cannot be measured: {}", context_.problem.key(),
                                           reference.kind == SampleKind::copy ? "copy limit" : "empty launch", failure->reason));
    }
}

Measurement BatchRounds::measurement(const RunningTrial& trial, const Series& series, std::size_t side, StopReason reason) const {
    MeasurementContext context;
    context.problem = &context_.problem;
    context.workspace_bytes = trial.record.compile ? trial.record.compile->workspace_bytes : 0;
    context.cold = context_.options.cold;
    context.stop_reason = reason;
    return summarise(series, references_[2 * side].series, references_[2 * side + 1].series, context);
}

void BatchRounds::end(RunningTrial& trial, StopReason reason) {
    trial.stopped = true;
    if (trial.incumbent) {
        return;
    }
    trial.record.timestamp = utc_timestamp();
    trial.record.outcome = Outcome::passed;
    if (trial.twin) {
        trial.record.measurement = measurement(trial, *trial.twin, 1, reason);
        context_.recorder.add_twin(trial.record);
    }
    trial.record.measurement = measurement(trial, trial.series, 0, reason);
    context_.recorder.add(std::move(trial.record));
}

void BatchRounds::report() const {
    double in_part = 0;
    for (const RunningTrial& trial : batch_) {
        const bool goes_on = !trial.stopped && !trial.incumbent;
        in_part += goes_on ? part_done(trial.series.rounds().size(), context_.options.stop_rule.least_rounds) : 0;
    }
    context_.recorder.update(context_.problem.key(), in_part);
}

}  // namespace normtune
