#include "run/recorder.h"

#include <algorithm>
#include <utility>

namespace normtune {

bool is_faulty(Outcome outcome) {
    return outcome != Outcome::passed && outcome != Outcome::pruned && outcome != Outcome::unsupported;
}

Recorder::Recorder(Journal& journal, const JournalContents& earlier, ProgressSink& sink, std::uint64_t trials_total)
    : journal_(journal), sink_(sink), trials_total_(trials_total) {
    for (const Record& record : earlier.records) {
        keep(record);
    }
    for (const FinalEntry& entry : earlier.finals) {
        apply(entry);
    }
    done_before_ = trials_done_;
}

const Record* Recorder::find(const std::string& problem_key, const std::string& identity) const {
    const std::lock_guard lock(mutex_);
    const auto problem = records_.find(problem_key);
    if (problem == records_.end()) {
        return nullptr;
    }
    const auto found = problem->second.find(identity);
    return found == problem->second.end() ? nullptr : &found->second;
}

bool Recorder::has_finals(const std::string& problem_key) const {
    const std::lock_guard lock(mutex_);
    return finals_.contains(problem_key);
}

std::string Recorder::device_of(const std::string& problem_key) const {
    const std::lock_guard lock(mutex_);
    const auto problem = records_.find(problem_key);
    return problem == records_.end() || problem->second.empty() ? "" : problem->second.begin()->second.device_id;
}

void Recorder::keep(Record record) {
    auto& of_problem = records_[record.problem.key()];
    std::string key = record.candidate.identity();
    const bool faulty = is_faulty(record.outcome);
    const auto found = of_problem.find(key);
    if (found != of_problem.end()) {
        faulty_ -= is_faulty(found->second.outcome) ? 1 : 0;
        found->second = std::move(record);
    } else {
        ++trials_done_;
        of_problem.emplace(std::move(key), std::move(record));
    }
    faulty_ += faulty ? 1 : 0;
}

void Recorder::add(Record record) {
    const std::lock_guard lock(mutex_);
    journal_.append(record);
    finals_.erase(record.problem.key());
    keep(std::move(record));
}

void Recorder::add(const FinalEntry& entry) {
    const std::lock_guard lock(mutex_);
    journal_.append(entry);
    apply(entry);
}

void Recorder::add(const RepetitionEntry& entry) {
    const std::lock_guard lock(mutex_);
    journal_.append(entry);
    records_.at(entry.problem_key).at(entry.candidate).measurement->add(entry.repetition);
}

void Recorder::add_twin(Record record) {
    const std::lock_guard lock(mutex_);
    twins_.push_back(std::move(record));
}

std::vector<Record> Recorder::take_twins() {
    const std::lock_guard lock(mutex_);
    return std::exchange(twins_, {});
}

void Recorder::add_under_way(Record record) {
    const std::lock_guard lock(mutex_);
    under_way_.push_back(std::move(record));
}

std::vector<Record> Recorder::take_under_way() {
    const std::lock_guard lock(mutex_);
    return std::exchange(under_way_, {});
}

void Recorder::forget(const std::string& problem_key) {
    const std::lock_guard lock(mutex_);
    journal_.append(VoidEntry{problem_key});
    finals_.erase(problem_key);
    std::erase_if(twins_, [&](const Record& record) { return record.problem.key() == problem_key; });
    in_part_.erase(problem_key);
    const auto problem = records_.find(problem_key);
    if (problem == records_.end()) {
        return;
    }
    for (const auto& [key, record] : problem->second) {
        faulty_ -= is_faulty(record.outcome) ? 1 : 0;
    }
    trials_done_ -= problem->second.size();
    done_before_ = std::min(done_before_, trials_done_);
    records_.erase(problem);
}

void Recorder::apply(const FinalEntry& entry) {
    if (!entry.stale) {
        finals_.insert(entry.problem_key);
    }
    auto& of_problem = records_[entry.problem_key];
    for (auto& [key, record] : of_problem) {
        if (record.measurement) {
            record.measurement->rank = 0;
            record.measurement->tied = false;
            record.measurement->final_rounds_us.clear();
            record.measurement->final_floor_us.reset();
        }
    }
    for (const FinalEntry::Finalist& finalist : entry.finalists) {
        const auto found = of_problem.find(finalist.candidate);
        if (found == of_problem.end() || !found->second.measurement) {
            continue;
        }
        Measurement& measurement = *found->second.measurement;
        measurement.rank = finalist.rank;
        measurement.tied = finalist.tied;
        measurement.final_rounds_us = finalist.rounds_us;
        measurement.final_floor_us = finalist.floor_us;
    }
}

Progress Recorder::progress_of(const std::string& problem_key) const {
    Progress progress;
    progress.trials_done = trials_done_;
    progress.trials_total = trials_total_;
    progress.faulty = faulty_;
    progress.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    const auto done_now = static_cast<double>(trials_done_ - done_before_);
    progress.trials_per_s = progress.elapsed_s > 0 ? done_now / progress.elapsed_s : 0;
    // Trials end in bunches, a round's at once; work in part makes the estimate move in between.
    double work = done_now;
    for (const auto& [problem, part] : in_part_) {
        work += part;
    }
    const double left = static_cast<double>(trials_total_ - done_before_) - work;
    progress.remaining_s = work > 0 ? progress.elapsed_s / work * std::max(left, 0.0) : -1;
    progress.problem_key = problem_key;
    return progress;
}

void Recorder::update(const std::string& problem_key, double trials_in_part) {
    const std::lock_guard lock(mutex_);
    in_part_[problem_key] = trials_in_part;
    sink_.update(progress_of(problem_key));
}

void Recorder::prepare(const std::string& problem_key, const std::string& doing, bool lasting) {
    const std::lock_guard lock(mutex_);
    Progress progress = progress_of(problem_key);
    progress.doing = doing;
    progress.lasting = lasting;
    sink_.update(progress);
}

void Recorder::warn(const std::string& line) {
    const std::lock_guard lock(mutex_);
    sink_.warn(line);
}

std::uint64_t Recorder::trials_done() const {
    const std::lock_guard lock(mutex_);
    return trials_done_;
}

}  // namespace normtune
