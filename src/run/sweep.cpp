#include "run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "devices/registry.h"
#include "run/budget.h"
#include "run/environment.h"
#include "run/interrupt.h"
#include "run/problem_run.h"
#include "run/recorder.h"
#include "run/selection.h"
#include "run/strategy.h"
#include "run/tuning.h"
#include "run/worker_session.h"
#include "store/journal.h"
#include "support/error.h"
#include "support/on_all_cores.h"

namespace normtune {

namespace {

constexpr const char* worker_log_name = "worker.log";

void check(const SweepOptions& options) {
    std::unordered_set<std::string> keys;
    for (const Problem& problem : options.problems) {
        if (!keys.insert(problem.key()).second) {
            throw InputError(fmt::format("{}: is selected twice; each problem is swept once", problem.key()));
        }
    }
    if (options.problems.empty()) {
        throw InputError("nothing to sweep: no problem is selected");
    }
    if (options.samples_per_round < 1 || !(options.trial_timeout_s > 0) || !(options.budget_s >= 0)) {
        throw InputError("samples a round and the trial's time limit must be above zero, and a budget not below it");
    }
}

SweepOptions of_shard(SweepOptions options, const ShardShare& share) {
    std::vector<Problem> own;
    for (const std::size_t place : share.places) {
        own.push_back(std::move(options.problems[place]));
    }
    options.problems = std::move(own);
    return options;
}

std::vector<ProblemTrials> plan_all(const SweepOptions& options, const ShardShare& share, const DeviceInfo& device) {
    const BackendTraits traits = backend_traits(options.backend);
    std::vector<ProblemTrials> plans(options.problems.size());
    on_all_cores(plans.size(), [&](std::size_t i) {
        plans[i] = choose_trials(options.problems[i], options, traits, device);
        if (!options.shard.whole()) {
            plans[i].summary.place = share.places[i];
        }
    });
    return plans;
}

JournalHeader header_of(const SweepOptions& options, const DeviceInfo& device,
                        const std::vector<ProblemTrials>& plans) {
    JournalHeader header;
    header.environment = describe_environment(device, options.seed);
    header.command = options.command;
    header.selection = selection_to_text(options);
    for (const ProblemTrials& plan : plans) {
        header.plans.push_back(plan.summary);
    }
    return header;
}

// Times of two devices must not end up in one table.
void require_same_device(const std::string& folder, const DeviceInfo& there, const DeviceInfo& here) {
    if (there.name != here.name || there.arch != here.arch) {
        throw InputError(
            fmt::format("{}: was measured on {} ({}), this is {} ({}); start a new sweep in another folder", folder,
                        there.name, there.arch, here.name, here.arch));
    }
}

Journal open_journal(const SweepOptions& options, const DeviceInfo& device, const std::vector<ProblemTrials>& plans,
                     JournalContents& contents) {
    if (!options.resume) {
        contents.header = header_of(options, device, plans);
        return Journal::create(options.out_folder, contents.header);
    }
    Journal journal = Journal::resume(options.out_folder, contents);
    require_same_selection(options.out_folder, contents.header.selection, options);
    require_same_device(options.out_folder, contents.header.environment.device, device);
    return journal;
}

WorkerCommand worker_command_of(const SweepOptions& options) {
    return {options.worker_executable, options.backend, options.ordinal, options.replay_script,
            (std::filesystem::path(options.out_folder) / worker_log_name).string()};
}

/// The problems of a sweep, run one after another or as a budget gives them their turns.
class ProblemRuns {
public:
    ProblemRuns(const SweepOptions& options, const DeviceInfo& device, const std::vector<ProblemTrials>& plans,
                Recorder& recorder)
        : options_(options), recorder_(recorder), session_(worker_command_of(options), {options.trial_timeout_s}) {
        for (std::size_t i = 0; i < plans.size(); ++i) {
            ProblemRun run(options, device, options.problems[i], plans[i].configurations, session_, recorder);
            if (run.complete()) {
                note(run);
            } else {
                runs_.push_back(std::move(run));
                states_.push_back({plans[i].configurations.size(), runs_.back().missing(), false, 0});
            }
        }
    }

    /// `end`: of the budget, if there is one.
    void run(Deadline end) {
        if (options_.budget_s > 0) {
            options_.strategy == Strategy::racing ? spend_where_it_tells(end) : spend_evenly(end);
        } else {
            for (std::size_t i = 0; i < runs_.size(); ++i) {
                run(i, std::nullopt);
            }
        }
        for (const ProblemRun& run : runs_) {
            if (run.missing() > 0) {
                recorder_.warn(
                    fmt::format("{}: {} trials did not fit into the budget", run.problem_key(), run.missing()));
            }
            if (options_.budget_s > 0 && run.unsettled() > 0) {
                recorder_.warn(fmt::format("{}: {} more trials could not be told apart from the best before the finals",
                                           run.problem_key(), run.unsettled()));
            }
        }
    }

private:
    static double seconds_until(Deadline end) {
        return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
    }

    void run(std::size_t i, std::optional<double> budget_s) {
        ProblemRun* next = i + 1 < runs_.size() && !states_[i + 1].visited ? &runs_[i + 1] : nullptr;
        runs_[i].run(budget_s, measured_, next);
        note(runs_[i]);
        states_[i].visited = true;
        states_[i].missing = runs_[i].missing();
        states_[i].limit_ratio = runs_[i].limit_ratio();
    }

    /// What is left is shared evenly by those that are still to come.
    void spend_evenly(Deadline end) {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            run(i, std::max(0.0, seconds_until(end)) / static_cast<double>(runs_.size() - i));
        }
    }

    void spend_where_it_tells(Deadline end) {
        const double budget_s = seconds_until(end);  // planning took its part
        while (const auto slice = next_slice(states_, budget_s, seconds_until(end), tuning::least_slice_s)) {
            run(slice->problem, slice->seconds);
        }
    }

    /// What the problem tells of those that come after it.
    void note(const ProblemRun& run) {
        if (options_.strategy != Strategy::racing || options_.verify_only) {
            return;
        }
        const auto found = std::find_if(measured_.begin(), measured_.end(), [&](const MeasuredProblem& measured) {
            return measured.problem.same_work(run.problem());
        });
        (found == measured_.end() ? measured_.emplace_back() : *found) = run.measured();
    }

    const SweepOptions& options_;
    Recorder& recorder_;
    WorkerSession session_;
    std::vector<ProblemRun> runs_;
    std::vector<ProblemState> states_;  // of runs_
    std::vector<MeasuredProblem> measured_;
};

// Trials of a problem that have no record are a tally of the plan, so that its numbers still add up.
void note_missing(PlanSummary& plan, std::uint64_t missing, bool interrupted) {
    if (missing > 0) {
        plan.kept -= missing;
        plan.pruned.push_back(
            interrupted ? PlanSummary::Pruned{std::string(interrupted_rule), "the sweep was interrupted", missing}
                        : PlanSummary::Pruned{"budget", "did not fit into the time budget", missing});
    }
}

Results collect(const SweepOptions& options, const std::vector<ProblemTrials>& plans, const JournalHeader& header,
                const Recorder& recorder, bool interrupted) {
    Results results;
    results.environment = header.environment;
    results.command = header.command;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::string problem_key = options.problems[i].key();
        std::uint64_t missing = 0;
        for (const Configuration& configuration : plans[i].configurations) {
            if (const Record* record = recorder.find(problem_key, configuration.key())) {
                results.records.push_back(*record);
            } else {
                ++missing;
            }
        }
        results.plans.push_back(plans[i].summary);
        note_missing(results.plans.back(), missing, interrupted);
    }
    return results;
}

}  // namespace

SweepResult run_sweep(const SweepOptions& selected, ProgressSink& progress) {
    check(selected);
    const Deadline end = deadline_in(selected.budget_s);
    const DeviceInfo device = describe_device(selected.backend, selected.ordinal, selected.replay_script);
    const ShardShare share =
        share_of(selected.shard, selected.problems, selected.space, backend_traits(selected.backend), device);
    const SweepOptions options = of_shard(selected, share);
    const std::vector<ProblemTrials> plans = plan_all(options, share, device);
    JournalContents contents;
    Journal journal = open_journal(selected, device, plans, contents);
    const JournalHeader header = std::move(contents.header);

    std::uint64_t total = 0;
    for (const ProblemTrials& plan : plans) {
        total += plan.configurations.size();
    }
    Recorder recorder(journal, contents, progress, total);
    contents = {};

    const InterruptGuard guard;
    SweepResult result;
    try {
        ProblemRuns(options, device, plans, recorder).run(end);
    } catch (const Interrupted&) {
        result.interrupted = true;
        progress.warn(fmt::format("interrupted after {} of {} trials; go on with: normtune {} --resume {}",
                                  recorder.trials_done(), total, options.verify_only ? "verify" : "sweep",
                                  options.out_folder));
    }
    result.results = collect(options, plans, header, recorder, result.interrupted);
    result.results.selection = describe_selection(selected);
    for (const Record& record : result.results.records) {
        result.incorrect += record.outcome == Outcome::incorrect ? 1 : 0;
        result.crashed += record.outcome == Outcome::crashed || record.outcome == Outcome::timed_out ? 1 : 0;
    }
    write_result_files(result.results, options.out_folder);
    return result;
}

SweepOptions options_from_journal(const std::string& folder) {
    const JournalContents contents = read_journal(folder);
    SweepOptions options = selection_from_text(contents.header.selection);
    options.command = contents.header.command;
    options.out_folder = folder;
    options.resume = true;
    return options;
}

}  // namespace normtune
