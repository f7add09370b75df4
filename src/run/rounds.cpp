#include "run/rounds.h"

#include "support/clock.h"
#include "support/random.h"

namespace normtune {

namespace {

constexpr int most_throttled_repeats = 4;  // of one trial

}  // namespace

RoundTaker::RoundTaker(const SweepOptions& options, WorkerSessions& sessions, std::string purpose, double round_time_us)
    : options_(options), sessions_(sessions), purpose_(std::move(purpose)), round_time_us_(round_time_us) {}

SampleRequest RoundTaker::request(SampleKind kind) {
    SampleRequest request;
    request.kind = kind;
    request.cold = options_.cold;
    request.samples = options_.samples_per_round;
    request.time_cap_us = round_time_us_;
    request.seed = mix_seed(options_.seed, purpose_, taken_++);
    return request;
}

template <typename Measure>
std::optional<Failure> RoundTaker::repeat_throttled(Series& series, Measure measure) {
    while (true) {
        std::variant<SampleBatch, Failure> answer = measure();
        if (auto* failure = std::get_if<Failure>(&answer)) {
            return std::move(*failure);
        }
        const SampleBatch& batch = std::get<SampleBatch>(answer);
        if (batch.throttle_reasons.empty() || series.discarded() >= most_throttled_repeats) {
            series.add(batch);
            return std::nullopt;
        }
        series.discard(batch);
    }
}

std::optional<Failure> RoundTaker::take(Series& series, TrialId trial, const Candidate& candidate) {
    return repeat_throttled(series, [&] { return sessions_.of(candidate).measure(trial, candidate, request(SampleKind::kernel)); });
}

std::optional<Failure> RoundTaker::check(TrialId trial, const Candidate& candidate) {
    const std::uint64_t seed = mix_seed(options_.seed, "checked set/" + purpose_, checked_++);
    auto checked = sessions_.of(candidate).check(trial, candidate, options_.cold, seed);
    if (auto* failure = std::get_if<Failure>(&checked)) {
        return std::move(*failure);
    }
    std::string& reason = std::get<std::string>(checked);
    return reason.empty() ? std::nullopt : std::optional(Failure{Outcome::incorrect, std::move(reason), false});
}

std::optional<Failure> RoundTaker::take(Series& series, SampleKind reference, bool dependent) {
    return repeat_throttled(series, [&] {
        SampleRequest wanted = request(reference);
        wanted.dependent = dependent;
        return sessions_.first().measure(wanted);
    });
}

void note_failure(Record& record, Failure failure) {
    if (failure.outcome == Outcome::incorrect && record.verification) {
        record.verification->passed = false;
        record.verification->reason = failure.reason;
    }
    record.timestamp = utc_timestamp();
    record.outcome = failure.outcome;
    record.reason = std::move(failure.reason);
    record.measurement.reset();
}

}  // namespace normtune
