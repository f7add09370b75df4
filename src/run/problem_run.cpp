#include "run/problem_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "run/finals.h"
#include "run/random.h"
#include "run/repeat.h"
#include "run/tuning.h"
#include "support/clock.h"

namespace normtune {

namespace {

// Where in its work a trial is, for the estimate of the remaining time: building is about a third of it.
double part_done(std::size_t rounds, int least_rounds) {
    constexpr double built = 0.3;
    return built + (1 - built) * std::min(1.0, static_cast<double>(rounds) / (least_rounds + 1));
}

CodeFigures figures_of(const std::optional<CompileInfo>& compile) {
    return compile ? compile->figures() : CodeFigures{};
}

}  // namespace

ProblemRun::ProblemRun(const SweepOptions& options, const DeviceInfo& device, const Problem& problem,
                       const std::vector<Configuration>& configurations, WorkerSession& session, Recorder& recorder)
    : options_(options),
      device_(device),
      problem_(problem),
      configurations_(configurations),
      session_(session),
      recorder_(recorder),
      key_(problem.key()),
      rounds_(options, session, "rounds/" + key_),
      code_rules_(options.space, problem, device) {
    for (TrialId id = 0; id < configurations_.size(); ++id) {
        if (recorder_.find(key_, configurations_[id].key()) == nullptr) {
            pending_.push_back(id);
        }
    }
    // In random order each batch is a sample of the whole space, and so is what a budget leaves time for.
    shuffle(pending_, Random(mix_seed(options_.seed, "order/" + key_)));
}

bool ProblemRun::complete() const {
    return pending_.empty() && (options_.verify_only || configurations_.empty() || recorder_.has_finals(key_));
}

std::uint64_t ProblemRun::missing() const {
    return pending_.size();
}

void ProblemRun::run(std::optional<double> budget_s) {
    recorder_.under_way(key_);
    recorder_.update(0);
    std::optional<Deadline> end;
    if (budget_s) {
        end = deadline_in(*budget_s);
        rounds_end_ = deadline_in(*budget_s * (1 - tuning::budget_for_finals));
    }
    OpenRequest open;
    open.problem = problem_;
    open.buffers.rotation_bytes = options_.cold ? tuning::rotation_over_cache * device_.cache_bytes : 0;
    open.buffers.seed = mix_seed(options_.seed, "inputs/" + key_);
    open.verify_seed = mix_seed(options_.seed, "verify/" + key_);
    session_.set_problem(std::move(open));
    auto opened = session_.open();
    if (const auto* failure = std::get_if<Failure>(&opened)) {
        lost_ = *failure;
    } else {
        rotation_bytes_ = std::get<OpenedReply>(opened).rotation_bytes;
    }
    std::vector<Running> batch;
    while (!lost_ && !pending_.empty() && (batches_ == 0 || !past(rounds_end_))) {
        batch = build_batch();
        measure_batch(batch);
        ++batches_;
    }
    if (lost_) {
        fail_all(batch);
    }
    if (!options_.verify_only) {
        run_finals(options_, problem_, configurations_, session_, recorder_, end);
    }
}

Record ProblemRun::new_record(const Configuration& configuration) const {
    Record record;
    record.backend = options_.backend;
    record.device = device_.name;
    record.arch = device_.arch;
    record.problem = problem_;
    record.configuration = configuration;
    record.repeat = repeat_command(options_, problem_, configuration);
    return record;
}

void ProblemRun::record(Record record, Outcome outcome, const std::string& reason) {
    record.timestamp = utc_timestamp();
    record.outcome = outcome;
    record.reason = reason;
    recorder_.add(std::move(record));
}

// The problem cannot be opened (any more): the reason is that of each trial that is not complete, and the sweep goes on
// with the next problem.
void ProblemRun::fail_all(std::vector<Running>& batch) {
    for (Running& trial : batch) {
        if (!trial.stopped) {
            trial.stopped = true;
            record(std::move(trial.record), lost_->outcome, lost_->reason);
        }
    }
    for (; !pending_.empty(); pending_.pop_back()) {
        record(new_record(configurations_[pending_.back()]), lost_->outcome, lost_->reason);
    }
    recorder_.warn(fmt::format("{}: {}", key_, lost_->reason));
    report(batch);
}

std::vector<ProblemRun::Running> ProblemRun::build_batch() {
    std::optional<Deadline> end;
    if (rounds_end_) {
        const std::chrono::duration<double> left = *rounds_end_ - std::chrono::steady_clock::now();
        end = deadline_in(left.count() * tuning::batch_time_to_build);
    }
    std::vector<Configuration> next;
    for (auto id = pending_.rbegin(); id != pending_.rend() && next.size() < tuning::batch_size; ++id) {
        next.push_back(configurations_[*id]);
    }
    session_.compile_ahead(std::move(next));
    std::vector<Running> batch;
    std::size_t tried = 0;
    while (!pending_.empty() && batch.size() < tuning::batch_size && (tried == 0 || !past(end))) {
        const TrialId id = pending_.back();
        ++tried;
        Running trial{id, new_record(configurations_[id]), {}, false};
        auto answer = session_.build(id, configurations_[id]);
        if (const auto* failure = std::get_if<Failure>(&answer)) {
            if (failure->of_problem) {
                lost_ = *failure;
                break;
            }
            pending_.pop_back();
            record(std::move(trial.record), failure->outcome, failure->reason);
        } else {
            pending_.pop_back();
            auto& built = std::get<BuiltReply>(answer);
            if (built.outcome == Outcome::passed && !code_rules_.empty()) {
                if (const Rule* rule = code_rules_.taken_by(configurations_[id], figures_of(built.compile))) {
                    built.outcome = Outcome::pruned;
                    built.reason = fmt::format("rule {}: {}", rule->name, rule->keep);
                }
            }
            trial.record.compile = std::move(built.compile);
            trial.record.verification = std::move(built.verification);
            if (built.outcome != Outcome::passed || options_.verify_only) {
                record(std::move(trial.record), built.outcome, built.reason);
                session_.drop(id);
            } else {
                batch.push_back(std::move(trial));
            }
        }
        report(batch);
    }
    return batch;
}

void ProblemRun::measure_batch(std::vector<Running>& batch) {
    std::vector<Reference> references{{SampleKind::copy, {}, 0}, {SampleKind::empty, {}, 0}};
    for (int round = 0; std::any_of(batch.begin(), batch.end(), [](const Running& t) { return !t.stopped; }); ++round) {
        measure_round(batch, references, round);
        if (lost_) {
            return;
        }
        for (Running& trial : batch) {
            if (trial.stopped) {
                continue;
            }
            StopReason reason = options_.stop_rule.decide(trial.series.round_medians_us(), trial.series.spent_us());
            if (reason == StopReason::none && past(rounds_end_)) {
                reason = StopReason::time_cap;
            }
            if (reason != StopReason::none) {
                finish(trial, references, reason);
            }
        }
        report(batch);
    }
}

// Trials and references once each, in an order of its own, so that drift within the round favours none of them.
void ProblemRun::measure_round(std::vector<Running>& batch, std::vector<Reference>& references, int round) {
    std::vector<std::size_t> order(batch.size() + references.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::string purpose = fmt::format("round order/{}/{}", key_, batches_);
    shuffle(order, Random(mix_seed(options_.seed, purpose, static_cast<std::uint64_t>(round))));
    for (const std::size_t i : order) {
        if (lost_) {
            return;
        }
        if (i >= batch.size()) {
            take(references[i - batch.size()]);
        } else if (!batch[i].stopped) {
            take(batch[i]);
        }
        report(batch);
    }
}

void ProblemRun::take(Running& trial) {
    const auto failure = rounds_.take(trial.series, trial.id, configurations_[trial.id]);
    if (failure && failure->of_problem) {
        lost_ = failure;
    } else if (failure) {
        trial.stopped = true;
        record(std::move(trial.record), failure->outcome, failure->reason);
        session_.drop(trial.id);
    }
}

void ProblemRun::take(Reference& reference) {
    if (reference.failures >= tuning::most_reference_failures) {
        return;
    }
    const auto failure = rounds_.take(reference.series, reference.kind);
    if (failure && failure->of_problem) {
        lost_ = failure;
    } else if (failure && ++reference.failures == tuning::most_reference_failures) {
        recorder_.warn(fmt::format("{}: the {} cannot be measured: {}", key_,
                                   reference.kind == SampleKind::copy ? "copy limit" : "empty launch",
                                   failure->reason));
    }
}

void ProblemRun::finish(Running& trial, const std::vector<Reference>& references, StopReason reason) {
    MeasurementContext context;
    context.problem = &problem_;
    context.workspace_bytes = trial.record.compile ? trial.record.compile->workspace_bytes : 0;
    context.rotation_bytes = rotation_bytes_;
    context.cold = options_.cold;
    context.stop_reason = reason;
    trial.record.measurement = summarise(trial.series, references[0].series, references[1].series, context);
    trial.stopped = true;
    record(std::move(trial.record), Outcome::passed, "");
    session_.drop(trial.id);
}

void ProblemRun::report(const std::vector<Running>& batch) {
    double in_part = 0;
    for (const Running& trial : batch) {
        in_part += trial.stopped ? 0 : part_done(trial.series.rounds().size(), options_.stop_rule.least_rounds);
    }
    recorder_.update(in_part);
}

}  // namespace normtune
