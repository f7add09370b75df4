#include "run/batch_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/clock.h"
#include "support/random.h"
#include "trial/dependent_launch.h"

namespace normtune {

namespace {

constexpr int most_reference_failures = 2;  // of the copy, or of the empty launch, within a batch

// Where in its work a trial is, for the estimate of the remaining time.
double part_done(std::size_t rounds, int least_rounds) {
    const double measured = std::min(1.0, static_cast<double>(rounds) / (least_rounds + 1));
    return part_of_building + (1 - part_of_building) * measured;
}

}  // namespace

BatchRounds::BatchRounds(const BatchContext& context, std::vector<RunningTrial>& batch)
    : context_(context), batch_(batch), sides_(context.options.twins ? 2 : 1) {
    for (std::size_t side = 0; side < sides_; ++side) {
        for (const bool dependent : {false, true}) {
            if (std::ranges::any_of(
                    batch_, [&](const RunningTrial& trial) { return launched_dependent(context_.candidates[trial.id]) == dependent; })) {
                references_.push_back({SampleKind::copy, dependent, side, {}, 0, {}});
                references_.push_back({SampleKind::empty, dependent, side, {}, 0, {}});
            }
        }
    }
    for (RunningTrial& trial : batch_) {
        if (sides_ == 2) {
            trial.twin.emplace();
        }
    }
}

// Trials and references once each, in an order of its own, so that drift within the round favours none of them.
bool BatchRounds::take_round(const std::vector<bool>& running) {
    if (lost_) {
        return false;
    }
    const std::size_t of_trials = batch_.size() * sides_;
    std::vector<std::size_t> order(of_trials + references_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::string purpose = fmt::format("round order/{}/{}", context_.problem.key(), context_.number);
    shuffle(order, Random(mix_seed(context_.options.seed, purpose, static_cast<std::uint64_t>(round_++))));
    keep_pairs_together(order);
    for (const std::size_t i : order) {
        if (i >= of_trials) {
            take(references_[i - of_trials]);
        } else if (RunningTrial& trial = batch_[i % batch_.size()]; running[i % batch_.size()] && !trial.failed) {
            take(trial, i < batch_.size() ? trial.series : *trial.twin);
        }
        if (lost_) {
            return false;
        }
        report();
    }
    return true;
}

/// A pair stands where the first of the two was drawn to; each is ahead of the other in every second round.
void BatchRounds::keep_pairs_together(std::vector<std::size_t>& order) const {
    if (context_.partners.empty()) {
        return;
    }
    std::vector<std::size_t> out;
    for (const std::size_t i : order) {
        const auto partner =
            i < batch_.size() ? std::ranges::find(batch_, context_.partners[batch_[i].id], &RunningTrial::id) : batch_.end();
        const std::size_t other = partner == batch_.end() ? i : static_cast<std::size_t>(partner - batch_.begin());
        if (other == i) {
            out.push_back(i);
        } else if (i < other) {
            const bool swapped = (static_cast<std::size_t>(round_) + i) % 2 == 1;
            out.push_back(swapped ? other : i);
            out.push_back(swapped ? i : other);
        }
    }
    order = std::move(out);
}

void BatchRounds::take(RunningTrial& trial, Series& series) {
    note(trial, context_.rounds.take(series, trial.id, context_.candidates[trial.id]));
}

/// Is the trial as it was?
bool BatchRounds::note(RunningTrial& trial, std::optional<Failure> failure) {
    if (failure && failure->of_problem) {
        lost_ = std::move(failure);
        return false;
    }
    if (!failure) {
        return true;
    }
    trial.failed = trial.stopped = true;
    if (trial.incumbent) {
        trial.record = *context_.recorder.find(context_.problem.key(), context_.candidates[trial.id].identity());
    }
    note_failure(trial.record, std::move(*failure));
    context_.recorder.add(std::move(trial.record));
    context_.sessions.of(context_.candidates[trial.id]).drop(trial.id);
    return false;
}

// At once again where it failed: a trial that this round drops would have neither limit nor floor.
void BatchRounds::take(Reference& reference) {
    while (reference.failures < most_reference_failures) {
        auto failure = context_.rounds.take(reference.series, reference.kind, reference.dependent);
        if (!failure) {
            return;
        }
        if (failure->of_problem) {
            lost_ = std::move(failure);
            return;
        }
        ++reference.failures;
        reference.why = failure->reason;
        context_.recorder.warn(
            fmt::format("{}: the {} {}: {}", context_.problem.key(), reference.kind == SampleKind::copy ? "copy limit" : "empty launch",
                        reference.failures < most_reference_failures ? "is measured again" : "cannot be measured", failure->reason));
    }
}

Measurement BatchRounds::measurement(const RunningTrial& trial, const Series& series, std::size_t side, StopReason reason) const {
    MeasurementContext context;
    context.problem = &context_.problem;
    context.workspace_bytes = trial.record.compile ? trial.record.compile->workspace_bytes : 0;
    context.cold = context_.options.cold;
    context.rotation_mark = context_.rotation_mark;
    context.stop_reason = reason;
    const Candidate& candidate = context_.candidates[trial.id];
    const Reference& copy = reference(SampleKind::copy, candidate, side);
    Measurement out = summarise(series, copy.series, reference(SampleKind::empty, candidate, side).series, context);
    if (out.limit_us <= 0 && !copy.why.empty()) {
        out.limit_copy = "failed: " + copy.why;
    }
    return out;
}

const BatchRounds::Reference& BatchRounds::reference(SampleKind kind, const Candidate& of, std::size_t side) const {
    const bool dependent = launched_dependent(of);
    return *std::ranges::find_if(references_,
                                 [&](const Reference& it) { return it.kind == kind && it.dependent == dependent && it.side == side; });
}

void BatchRounds::stop(std::size_t i, StopReason reason) {
    RunningTrial& trial = batch_[i];
    const bool has_rounds_of_its_own = !trial.incumbent || context_.process > 1;
    if (has_rounds_of_its_own && !note(trial, context_.rounds.check(trial.id, context_.candidates[trial.id]))) {
        return;
    }
    trial.stopped = true;
    if (context_.process > 1) {
        const Measurement m = measurement(trial, trial.series, 0, reason);
        context_.recorder.add(RepetitionEntry{context_.problem.key(),
                                              context_.candidates[trial.id].identity(),
                                              {context_.process, m.rounds, m.p20_us, m.p50_us, m.p80_us, m.limit_us, m.floor_us}});
    } else if (!trial.incumbent) {
        trial.record.timestamp = utc_timestamp();
        trial.record.outcome = Outcome::passed;
        if (trial.twin) {
            trial.record.measurement = measurement(trial, *trial.twin, 1, reason);
            context_.recorder.add_twin(trial.record);
        }
        trial.record.measurement = measurement(trial, trial.series, 0, reason);
        context_.recorder.add(std::move(trial.record));
    }
    if (reason == StopReason::dropped || !context_.keeps_kernels) {
        context_.sessions.of(context_.candidates[trial.id]).drop(trial.id);
    }
}

std::vector<Record> BatchRounds::under_way() const {
    std::vector<Record> out;
    for (const RunningTrial& trial : batch_) {
        if (!trial.stopped && !trial.incumbent && !trial.series.empty()) {
            Record& record = out.emplace_back(trial.record);
            record.timestamp = utc_timestamp();
            record.outcome = Outcome::passed;
            record.measurement = measurement(trial, trial.series, 0, StopReason::none);
        }
    }
    return out;
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
