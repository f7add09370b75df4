#include "run/device_worker.h"
#include "support/plural.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace normtune {

namespace {

double seconds_until(Deadline end) {
    return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
}

}  // namespace

DeviceWorker::DeviceWorker(const DeviceWorkerContext& context, std::size_t index, DeviceInfo device,
                           const std::vector<WorkerCommand>& workers)
    : context_(context), index_(index), device_(std::move(device)), sessions_(workers, {context.options.trial_timeout_s}) {}

void DeviceWorker::run() {
    try {
        context_.options.budget_s > 0 ? spend_budget() : run_whole();
    } catch (const DeviceLost& lost) {
        if (!context_.queue.lose(index_, unfinished())) {
            throw;
        }
        context_.recorder.warn(fmt::format("{} {} is lost, its problems go to the other devices: {}", backend_names.name(device_.backend),
                                           device_.ordinal, lost.what()));
    }
}

void DeviceWorker::run_whole() {
    while (std::optional<WorkGroup> group = context_.queue.take(index_)) {
        for (group_ = std::move(*group); !group_.problems.empty(); group_.problems.erase(group_.problems.begin())) {
            const std::size_t problem = group_.problems.front();
            ProblemRun run = begin(problem);
            if (!ranked(context_.options, context_.options.problems[problem], context_.plans[problem].candidates, context_.recorder)) {
                run.run(std::nullopt, context_.experience,
                        compile_ahead_for(group_.problems.size() > 1 ? std::optional(group_.problems[1]) : std::nullopt));
            }
            note(problem);
            done_.push_back(problem);
        }
    }
    repeat();
}

/// Each process measures all problems, so that those of one problem lie far apart.
void DeviceWorker::repeat() {
    try {
        for (int process = 2; process <= context_.options.processes; ++process) {
            sessions_.retire();  // the next requests start others
            for (const std::size_t problem : done_) {
                begin(problem).repeat(process);
            }
        }
    } catch (const DeviceLost& lost) {
        context_.recorder.warn(fmt::format("{} {} is lost before all was measured in {} processes; --resume measures the rest: {}",
                                           backend_names.name(device_.backend), device_.ordinal, context_.options.processes, lost.what()));
    }
}

// Trials of a problem are of one device: what another one has of it is void.
ProblemRun DeviceWorker::begin(std::size_t problem) {
    const Problem& what = context_.options.problems[problem];
    const std::string before = context_.recorder.device_of(what.key());
    if (!before.empty() && before != device_.id) {
        context_.recorder.forget(what.key());
    }
    return {context_.options, device_, what, context_.plans[problem].candidates, sessions_, context_.recorder};
}

ProblemRun::Next DeviceWorker::compile_ahead_for(std::optional<std::size_t> problem) {
    return [this, problem]() -> std::optional<AheadRequest> {
        const std::optional<std::size_t> next = problem ? problem : context_.queue.peek(index_);
        if (!next) {
            return std::nullopt;
        }
        return ProblemRun(context_.options, device_, context_.options.problems[*next], context_.plans[*next].candidates, sessions_,
                          context_.recorder)
            .beginning(context_.experience);
    };
}

void DeviceWorker::spend_budget() {
    while (const std::optional<WorkGroup> taken = context_.queue.take_all(index_)) {
        for (const std::size_t problem : taken->problems) {
            owned_.push_back({problem, std::make_unique<ProblemRun>(begin(problem))});
            states_.push_back({context_.plans[problem].candidates.size(), owned_.back().run->missing(), false, 0});
        }
        const double budget_s = seconds_until(context_.end);  // planning took its part
        while (const auto slice = context_.options.strategy->next_slice(states_, budget_s, seconds_until(context_.end))) {
            run_slice(slice->problem, slice->seconds);
        }
    }
    std::vector<std::string> left;
    for (const auto& [problem, run] : owned_) {
        if (run->missing() > 0) {
            left.push_back(fmt::format("{}: {} did not fit into the budget, or its share of it", run->problem_key(),
                                       counted(run->missing(), "trial")));
        }
        if (run->unsettled() > 0) {
            left.push_back(fmt::format("{}: {} more {} could not be told apart from the best before the finals", run->problem_key(),
                                       run->unsettled(), plural(run->unsettled(), "trial")));
        }
    }
    constexpr std::size_t most_told = 10;
    for (std::size_t i = 0; i < std::min(left.size(), most_told); ++i) {
        context_.recorder.warn(left[i]);
    }
    if (left.size() > most_told) {
        context_.recorder.warn(
            fmt::format("and {} more lines on what the budget left; the plan summaries in results.json count it", left.size() - most_told));
    }
}

void DeviceWorker::run_slice(std::size_t i, double seconds) {
    const bool next_is_new = i + 1 < owned_.size() && !states_[i + 1].visited;
    ProblemRun& run = *owned_[i].run;
    run.run(
        seconds, context_.experience,
        next_is_new ? compile_ahead_for(owned_[i + 1].problem) : [] { return std::optional<AheadRequest>(); });
    note(owned_[i].problem);
    states_[i].visited = true;
    states_[i].missing = run.missing();
    states_[i].limit_ratio = run.limit_ratio();
}

/// What the problem tells of those that come after it.
void DeviceWorker::note(std::size_t problem) {
    if (context_.options.strategy->learns() && !context_.options.verify_only) {
        context_.experience.note(
            measured_problem(context_.options.problems[problem], context_.plans[problem].candidates, context_.recorder));
    }
}

WorkGroup DeviceWorker::unfinished() {
    WorkGroup rest = std::move(group_);
    for (const Owned& owned : owned_) {
        if (!complete(context_.options, context_.options.problems[owned.problem], context_.plans[owned.problem].candidates,
                      context_.recorder)) {
            rest.problems.push_back(owned.problem);
        }
    }
    rest.weight = 0;
    for (const std::size_t problem : rest.problems) {
        rest.weight += estimated_work(context_.options.problems[problem], context_.plans[problem].candidates.size());
    }
    return rest;
}

}  // namespace normtune
