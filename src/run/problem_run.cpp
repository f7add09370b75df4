#include "run/problem_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "measure/rotation.h"
#include "run/finals.h"
#include "run/interrupt.h"
#include "run/repeat.h"
#include "support/clock.h"
#include "support/random.h"

namespace normtune {

namespace {

/// Does a further process measure it?
bool is_repeated(const Record* record) {
    return record != nullptr && record->measurement && (record->may_win() || record->measurement->rank > 0);
}

bool has_repetition(const Record& record, int process) {
    return std::ranges::find(record.measurement->repetitions, process, &Repetition::process) != record.measurement->repetitions.end();
}

CodeFigures figures_of(const std::optional<CompileInfo>& compile) {
    return compile ? compile->figures() : CodeFigures{};
}

}  // namespace

MeasuredProblem measured_problem(const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder) {
    const std::string problem_key = problem.key();
    std::map<std::string, double> times_us;
    std::string winner;
    for (const Candidate& candidate : candidates) {
        std::string identity = candidate.identity();
        const Record* record = recorder.find(problem_key, identity);
        if (record != nullptr && record->outcome == Outcome::passed && record->measurement) {
            winner = record->measurement->rank == 1 ? identity : winner;
            times_us.emplace(std::move(identity), record->measurement->p50_us);
        }
    }
    return {problem, std::move(times_us), std::move(winner)};
}

bool ranked(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder) {
    const std::string key = problem.key();
    bool passed = false;
    bool won = false;
    for (const Candidate& candidate : candidates) {
        const Record* record = recorder.find(key, candidate.identity());
        if (record == nullptr) {
            return false;
        }
        passed = passed || (record->outcome == Outcome::passed && record->measurement);
        won = won || (record->measurement && record->measurement->rank == 1);
    }
    return options.verify_only || !options.pairs.empty() || candidates.empty() || (recorder.has_finals(key) && (won || !passed));
}

bool complete(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, const Recorder& recorder) {
    const std::string key = problem.key();
    return ranked(options, problem, candidates, recorder) && std::ranges::all_of(candidates, [&](const Candidate& candidate) {
               const Record* record = recorder.find(key, candidate.identity());
               bool has_all = true;
               for (int process = 2; process <= options.processes && is_repeated(record); ++process) {
                   has_all = has_all && has_repetition(*record, process);
               }
               return has_all;
           });
}

ProblemRun::ProblemRun(const SweepOptions& options, const DeviceInfo& device, const Problem& problem,
                       const std::vector<Candidate>& candidates, WorkerSessions& sessions, Recorder& recorder)
    : options_(options),
      device_(device),
      problem_(problem),
      candidates_(candidates),
      sessions_(sessions),
      recorder_(recorder),
      key_(problem.key()),
      rotation_mark_(options.cold ? rotation_mark(device, options.over_cache) : std::string()),
      scheduler_(options.strategy->schedule({problem, candidates, options.stop_rule, options.round_time_us, options.seed})),
      rounds_(options, sessions, "rounds/" + key_, scheduler_->round_time_us()),
      code_rules_(options.space, problem, device),
      partners_(options.pairs.partners(problem, candidates)) {
    for (TrialId id = 0; id < candidates_.size(); ++id) {
        if (recorder_.find(key_, candidates_[id].identity()) == nullptr) {
            pending_.push_back(id);
        }
    }
}

void ProblemRun::order_pending(const Experience& experience) {
    std::sort(pending_.begin(), pending_.end());
    scheduler_->order(pending_, experience);
    bring_together(pending_, partners_);
}

std::vector<Candidate> ProblemRun::next_batch() const {
    const std::size_t size = scheduler_->batch_size(pending_.size());
    std::vector<Candidate> next;
    for (auto id = pending_.rbegin(); id != pending_.rend() && next.size() < size; ++id) {
        next.push_back(candidates_[*id]);
    }
    return next;
}

std::optional<AheadRequest> ProblemRun::beginning(const Experience& experience) {
    order_pending(experience);
    return pending_.empty() ? std::nullopt : std::optional(AheadRequest{next_batch(), true, problem_});
}

void ProblemRun::run(std::optional<double> budget_s, const Experience& experience, const Next& next) {
    say_what_is_filled();
    recorder_.update(key_, 0);
    std::optional<Deadline> end;
    if (budget_s) {
        end = deadline_in(*budget_s);
        rounds_end_ = deadline_in(*budget_s * (1 - scheduler_->shares().finals));
    }
    order_pending(experience);
    sessions_.set_problem(open_request());
    kept_.clear();
    if (!pending_.empty()) {
        sessions_.first().compile_ahead({next_batch(), true, problem_});  // while buffers are filled
    }
    auto opened = sessions_.first().open();
    if (const auto* failure = std::get_if<Failure>(&opened)) {
        lost_ = *failure;
    }
    std::vector<RunningTrial> batch;
    for (bool first = true; !lost_ && !pending_.empty() && (first || !past(rounds_end_)); first = false) {
        free_kept();
        batch = build_batch(first);
        queue_compiles(next);
        if (!lost_) {
            measure(batch);
        }
        ++batches_;
    }
    if (lost_) {
        fail_all(batch);
    }
    hold_finals(end);
}

void ProblemRun::say_what_is_filled() {
    constexpr std::int64_t lasting_bytes = std::int64_t{256} << 20;
    const std::int64_t set = std::max<std::int64_t>(tensor_bytes(problem_), 1);
    const std::int64_t rotation = open_request().buffers.rotation_bytes;
    const std::int64_t bytes = std::max<std::int64_t>((rotation + set - 1) / set, 1) * set;
    constexpr double gib = 1 << 30;
    const double mib = static_cast<double>(bytes) / (1 << 20);
    const std::string size = static_cast<double>(bytes) < gib ? fmt::format("{:.3g} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
    recorder_.prepare(key_, fmt::format("filling {} of buffers", size), device_.backend == Backend::cpu && bytes >= lasting_bytes);
}

OpenRequest ProblemRun::open_request() const {
    OpenRequest open;
    open.problem = problem_;
    open.buffers.rotation_bytes = options_.cold ? cold_rotation_bytes(device_, options_.over_cache) : 0;
    open.buffers.seed = mix_seed(options_.seed, "inputs/" + key_);
    open.verify_seed = mix_seed(options_.seed, "verify/" + key_);
    return open;
}

void ProblemRun::hold_finals(std::optional<Deadline> end) {
    if (!options_.verify_only && options_.pairs.empty()) {
        const std::string purpose = runs_ == 0 ? "finals/" + key_ : fmt::format("finals/{}/{}", key_, runs_);
        const auto taker = [&](const std::string& of) { return RoundTaker(options_, sessions_, of, scheduler_->round_time_us()); };
        unsettled_ = run_finals(options_, problem_, candidates_, recorder_, {taker(purpose), taker("empty launches of " + purpose)}, end,
                                fastest_failed_us_, best_ ? std::optional(best_->id) : std::nullopt);
    }
    ++runs_;
}

void ProblemRun::repeat(int process) {
    std::vector<TrialId> trials;
    bool is_whole = true;
    for (TrialId id = 0; id < candidates_.size(); ++id) {
        const Record* record = recorder_.find(key_, candidates_[id].identity());
        if (is_repeated(record)) {
            trials.push_back(id);
            is_whole = is_whole && has_repetition(*record, process);
        }
    }
    if (is_whole) {  // else all again: those of a process that is gone did not run beside what is missing
        return;
    }
    bring_together(trials, partners_);
    sessions_.set_problem(open_request());
    const auto scheduler = measure_alike({problem_, candidates_, options_.stop_rule, scheduler_->round_time_us(), options_.seed});
    RoundTaker taker(options_, sessions_, fmt::format("rounds/{}/process {}", key_, process), scheduler_->round_time_us());
    for (std::size_t begin = 0; begin < trials.size() && !lost_;) {
        std::size_t end = std::min(trials.size(), begin + scheduler->batch_size(trials.size()));
        end += end < trials.size() && splits_a_pair(trials[end - 1], trials[end]) ? 1 : 0;
        std::vector<RunningTrial> batch;
        for (; begin < end; ++begin) {
            batch.push_back({trials[begin], {}, true});
        }
        const BatchContext context{options_,       problem_,     candidates_, sessions_, recorder_, taker,
                                   rotation_mark_, std::nullopt, batches_++,  false,     partners_, process};
        BatchRounds rounds(context, batch);
        if (!measure_batch(*scheduler, batch.size(), false, rounds)) {
            lost_ = rounds.lost();
        }
    }
    if (lost_) {
        recorder_.warn(fmt::format("{}: not measured in process {}: {}", key_, process, lost_->reason));
    }
    if (!recorder_.has_finals(key_)) {
        hold_finals(std::nullopt);
    }
}

Record ProblemRun::new_record(const Candidate& candidate) const {
    Record record;
    record.backend = options_.backend;
    record.device = device_.name;
    record.arch = device_.arch;
    record.device_id = device_.id;
    record.problem = problem_;
    record.candidate = candidate;
    record.repeat = repeat_command(options_, device_.ordinal, problem_, candidate);
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
void ProblemRun::fail_all(std::vector<RunningTrial>& batch) {
    for (RunningTrial& trial : batch) {
        if (!trial.stopped && !trial.incumbent) {
            trial.stopped = true;
            record(std::move(trial.record), lost_->outcome, lost_->reason);
        }
    }
    for (; !pending_.empty(); pending_.pop_back()) {
        record(new_record(candidates_[pending_.back()]), lost_->outcome, lost_->reason);
    }
    recorder_.warn(fmt::format("{}: {}", key_, lost_->reason));
    recorder_.update(key_, 0);
}

std::vector<RunningTrial> ProblemRun::build_batch(bool first) {
    std::optional<Deadline> end;
    if (rounds_end_) {
        const std::chrono::duration<double> left = *rounds_end_ - std::chrono::steady_clock::now();
        end = deadline_in(left.count() * scheduler_->shares().build);
    }
    if (!first) {
        sessions_.first().compile_ahead({next_batch(), true, std::nullopt});
    }
    const std::size_t size = scheduler_->batch_size(pending_.size());
    std::vector<RunningTrial> batch;
    std::size_t tried = 0;
    const auto has_room = [&] { return batch.size() < size || (batch.size() == size && splits_a_pair(batch.back().id, pending_.back())); };
    while (!lost_ && !pending_.empty() && has_room() && (tried == 0 || !past(end))) {
        ++tried;
        if (auto trial = build(pending_.back())) {
            batch.push_back(std::move(*trial));
        }
        recorder_.update(key_, part_of_building * static_cast<double>(batch.size()));
    }
    return batch;
}

// Takes the trial off the pending ones; none: it is recorded, or the problem is lost and the trial still pending.
std::optional<RunningTrial> ProblemRun::build(TrialId id) {
    RunningTrial trial{id, new_record(candidates_[id])};
    auto answer = sessions_.of(candidates_[id]).build(BuildRequest{id, candidates_[id], true, options_.compares_bits()});
    if (const auto* failure = std::get_if<Failure>(&answer)) {
        if (failure->of_problem) {
            lost_ = *failure;
        } else {
            pending_.pop_back();
            record(std::move(trial.record), failure->outcome, failure->reason);
        }
        return std::nullopt;
    }
    pending_.pop_back();
    auto& built = std::get<BuiltReply>(answer);
    if (built.outcome == Outcome::passed && !code_rules_.empty()) {
        const Configuration* own = candidates_[id].configuration();
        if (const Rule* rule = own != nullptr ? code_rules_.taken_by(*own, figures_of(built.compile)) : nullptr) {
            built.outcome = Outcome::pruned;
            built.reason = fmt::format("rule {}: {}", rule->name, rule->keep);
        }
    }
    if (built.outcome == Outcome::passed && options_.deterministic && built.bits && !built.bits->runs_differ.empty()) {
        built.outcome = Outcome::pruned;
        built.reason = fmt::format("--deterministic: {}", built.bits->runs_differ);
    }
    trial.record.compile = std::move(built.compile);
    trial.record.bits = std::move(built.bits);
    trial.record.verification = std::move(built.verification);
    if (built.outcome != Outcome::passed || options_.verify_only) {
        record(std::move(trial.record), built.outcome, built.reason);
        sessions_.of(candidates_[id]).drop(id);
        return std::nullopt;
    }
    return trial;
}

// What the device's compiler can do while this batch is measured.
void ProblemRun::queue_compiles(const Next& next) {
    if (!pending_.empty()) {
        sessions_.first().compile_ahead({next_batch(), true, std::nullopt});
    } else if (std::optional<AheadRequest> request = next()) {
        sessions_.first().compile_ahead(std::move(*request));
    }
}

void ProblemRun::measure(std::vector<RunningTrial>& batch) {
    if (batch.empty()) {
        return;
    }
    if (batches_ == 0) {
        recorder_.prepare(key_, "measuring the copy", false);
    }
    const bool has_incumbent = scheduler_->has_incumbent();
    const std::size_t trials = batch.size();
    if (has_incumbent && best_) {
        batch.push_back({best_->id, {}, true});
    }
    const BatchContext context{options_,       problem_,    candidates_, sessions_,     recorder_, rounds_,
                               rotation_mark_, rounds_end_, batches_,    has_incumbent, partners_};
    BatchRounds rounds(context, batch);
    try {
        measure_batch(*scheduler_, trials, batch.size() > trials, rounds);
    } catch (const Interrupted&) {
        for (Record& record : rounds.under_way()) {
            recorder_.add_under_way(std::move(record));
        }
        throw;
    }
    lost_ = rounds.lost();
    rounds.report();
    for (const RunningTrial& trial : batch) {
        if (trial.failed && !trial.series.empty()) {
            fastest_failed_us_ = std::min(fastest_failed_us_, trial.series.p50_us());
        }
    }
    if (has_incumbent) {
        best_.reset();  // one that failed as the incumbent is that no more
        for (const RunningTrial& trial : batch) {
            kept_.push_back(trial.id);
            // The incumbent by what it took here: beside the others, whatever has drifted since its own race.
            note_best(trial.id, trial.incumbent && !trial.series.empty() ? std::optional(trial.series.p50_us()) : std::nullopt);
        }
    }
}

// All but the kernel of the incumbent.
void ProblemRun::free_kept() {
    for (const TrialId id : kept_) {
        if (!best_ || id != best_->id) {
            sessions_.of(candidates_[id]).drop(id);
        }
    }
    kept_.clear();
    if (best_) {
        kept_.push_back(best_->id);
    }
}

void ProblemRun::note_best(TrialId id, std::optional<double> p50_us) {
    const Record* record = recorder_.find(key_, candidates_[id].identity());
    if (record == nullptr || !record->may_win()) {
        return;
    }
    const double its_us = p50_us.value_or(record->measurement->p50_us);
    if (!best_ || its_us < best_->p50_us) {
        best_ = {id, its_us, record->measurement->limit_ratio};
    }
}

}  // namespace normtune
