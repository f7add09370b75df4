#include "run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <tuple>
#include <unordered_set>

#include "devices/registry.h"
#include "run/device_worker.h"
#include "run/environment.h"
#include "run/interrupt.h"
#include "run/sweep_store.h"
#include "run/sweep_text.h"
#include "store/journal.h"
#include "support/cores.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/others_load.h"
#include "support/parallel.h"
#include "support/plural.h"
#include "support/version.h"

namespace normtune {

namespace {

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
    check_candidates(options.candidates, options.problems);
    if (options.twins && options.strategy->wants_winners_alone()) {
        throw InputError("trials that are measured twice in the same rounds do not race");
    }
    if (options.processes > 1 && options.budget_s > 0) {
        throw InputError("--repeat measures in several processes, however long that takes; leave out --budget, or it");
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
    TrialAllowance allowance;
    on_all_cores(plans.size(), [&](std::size_t i) {
        const Problem& problem = options.problems[i];
        if (options.candidates.alone) {
            plans[i].summary.problem_key = problem.key();
        } else {
            plans[i] = choose_trials(problem, options, traits, device, allowance);
        }
        add_candidates(plans[i], options, problem, device);
        if (!options.shard.whole()) {
            plans[i].summary.place = share.places[i];
        }
    });
    require_candidates(options, plans);
    require_trials(options, plans);
    return plans;
}

JournalHeader header_of(const SweepOptions& options, const DeviceInfo& device, const std::vector<ProblemTrials>& plans,
                        const std::string& kernels) {
    JournalHeader header;
    header.kernels = kernels;
    header.environment = describe_environment(device, options.seed);
    for (const auto& provider : options.candidates.providers) {
        header.environment.providers.push_back(provider->labelled());
    }
    header.command = options.command;
    header.sweep = sweep_to_text(options);
    for (const ProblemTrials& plan : plans) {
        header.plans.push_back(plan.summary);
    }
    return header;
}

std::string text_of(const DeviceInfo& device) {
    return fmt::format("{} ({}, {})", device.name, device.arch, counted(static_cast<std::uint64_t>(device.compute_units), "compute unit"));
}

bool are_alike(const DeviceInfo& a, const DeviceInfo& b) {
    return a.name == b.name && a.arch == b.arch && a.compute_units == b.compute_units;
}

// Times of two devices, or of a device and a part of it, must not end up in one table.
void require_same_device(const std::string& folder, const DeviceInfo& there, const DeviceInfo& here) {
    if (!are_alike(there, here)) {
        throw InputError(
            fmt::format("{}: was measured on {}, this is {}; start a new sweep in another folder", folder, text_of(there), text_of(here)));
    }
}

/// What else times depend on may have changed since the sweep began: it goes on, and says so.
void warn_of_changes(const JournalHeader& there, const DeviceInfo& here, const std::string& kernels, ProgressSink& progress) {
    const auto changed = [&](std::string_view what, const std::string& before, const std::string& now) {
        if (!before.empty() && !now.empty() && before != now) {
            progress.warn(fmt::format("goes on with another {} ({}, before {}): times of both stand in one table", what, now, before));
        }
    };
    changed("driver", there.environment.device.driver, here.driver);
    changed("version of normtune", there.environment.normtune_version, std::string(version()));
    changed("build of the kernels", there.kernels.substr(0, 8), kernels.substr(0, 8));
}

Journal open_journal(const SweepOptions& options, const DeviceInfo& device, const std::vector<ProblemTrials>& plans,
                     const std::string& kernels, JournalContents& contents, ProgressSink& progress) {
    if (!options.resume) {
        contents.header = header_of(options, device, plans, kernels);
        return Journal::create(options.out_folder, contents.header);
    }
    Journal journal = Journal::resume(options.out_folder, contents);
    require_same_sweep(options.out_folder, contents.header.sweep, options);
    require_same_device(options.out_folder, contents.header.environment.device, device);
    warn_of_changes(contents.header, device, kernels, progress);
    return journal;
}

/// The devices of the sweep; they have to be alike, as times of two kinds of device belong into two tables. A resumed
/// sweep of several goes on without those that are gone.
std::vector<DeviceInfo> describe_devices(const SweepOptions& options, ProgressSink& progress) {
    std::vector<DeviceInfo> devices;
    for (std::size_t i = 0; i < options.ordinals.size(); ++i) {
        const bool last_chance = i + 1 == options.ordinals.size() && devices.empty();
        try {
            devices.push_back(describe_device(options.backend, options.ordinals[i], options.replay_script));
        } catch (const InputError& error) {
            if (!options.resume || last_chance) {
                throw;
            }
            progress.warn(fmt::format("goes on without it: {}", error.what()));
            continue;
        }
        const DeviceInfo& first = devices.front();
        const DeviceInfo& latest = devices.back();
        if (!are_alike(latest, first)) {
            throw InputError(fmt::format("--device: device {} is {} and device {} is {}; one sweep takes devices that are alike",
                                         first.ordinal, text_of(first), latest.ordinal, text_of(latest)));
        }
    }
    return devices;
}

std::vector<std::shared_ptr<void>> lock_clocks(const SweepOptions& options, const std::vector<DeviceInfo>& devices) {
    std::vector<std::shared_ptr<void>> locks;
    const auto& lock = backend_row(options.backend).lock_clock;
    if (options.lock_clock_mhz > 0 && !lock) {
        throw InputError(
            fmt::format("--lock-clocks: the clock of backend {} cannot be locked; leave it out", backend_names.name(options.backend)));
    }
    for (std::size_t i = 0; options.lock_clock_mhz > 0 && i < devices.size(); ++i) {
        locks.push_back(lock(devices[i], options.lock_clock_mhz));
    }
    return locks;
}

/// With one device all cores are its worker's; with several each has its share, for compilers and verification.
/// Python providers are in Python's process, and two sides of them in one each.
std::vector<WorkerCommand> worker_commands_of(const SweepOptions& options, const DeviceInfo& device, std::size_t devices) {
    const std::string log = devices == 1 ? "worker" : fmt::format("worker-{}", device.ordinal);
    const int cores = devices == 1 ? 0 : std::max(1, usable_cores() / static_cast<int>(devices));
    std::vector<WorkerCommand> out;
    const auto add = [&](std::vector<std::string> program, const std::string& side) {
        const std::string its_log = log + (out.empty() ? "" : "-" + side) + ".log";
        out.push_back({std::move(program), options.backend, device.ordinal, options.replay_script, cores,
                       (std::filesystem::path(options.out_folder) / its_log).string(), side});
    };
    for (const auto& provider : options.candidates.providers) {
        if (std::ranges::find(out, provider->side(), &WorkerCommand::side) == out.end()) {
            add(python_worker(*provider), provider->side());
        }
    }
    if (out.empty()) {
        add({options.worker_executable}, {});
    }
    return out;
}

/// What is left to do, in groups of one shape where there are several devices; `experience` takes what is complete.
std::vector<WorkGroup> groups_of(const SweepOptions& options, const std::vector<ProblemTrials>& plans,
                                 const std::vector<DeviceInfo>& devices, const Recorder& recorder, Experience& experience) {
    std::vector<WorkGroup> groups;
    std::map<std::tuple<std::int64_t, std::int64_t>, std::size_t> group_of_shape;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const Problem& problem = options.problems[i];
        if (complete(options, problem, plans[i].candidates, recorder)) {
            if (options.strategy->learns() && !options.verify_only) {
                experience.note(measured_problem(problem, plans[i].candidates, recorder));
            }
            continue;
        }
        std::size_t place = groups.size();
        if (devices.size() > 1) {
            place = group_of_shape.try_emplace({problem.shape.rows, problem.shape.cols}, place).first->second;
        }
        groups.resize(std::max(groups.size(), place + 1));
        groups[place].problems.push_back(i);
        groups[place].weight += estimated_work(problem, plans[i].candidates.size());
        const std::string begun_by = recorder.device_of(problem.key());
        for (std::size_t d = 0; d < devices.size(); ++d) {
            if (!begun_by.empty() && devices[d].id == begun_by) {
                groups[place].device = d;
            }
        }
    }
    return groups;
}

/// The problems of a sweep, on all its devices at once.
void run_on_devices(const DeviceWorkerContext& context, const std::vector<DeviceInfo>& devices) {
    std::vector<std::exception_ptr> failures(devices.size());
    const auto run = [&](std::size_t i) {
        try {
            DeviceWorker(context, i, devices[i], worker_commands_of(context.options, devices[i], devices.size())).run();
        } catch (...) {
            failures[i] = std::current_exception();
            context.queue.stop();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < devices.size(); ++i) {
            if (!start_thread(others, [&run, i] { run(i); })) {
                context.queue.stop();
                throw SystemError("the system allows no thread for each device; give fewer --device, or raise ulimit -u");
            }
        }
        run(0);
    }
    for (const std::exception_ptr& failure : failures) {
        if (failure != nullptr) {
            std::rethrow_exception(failure);
        }
    }
}

// Trials of a problem that have no record are a tally of the plan, so that its numbers still add up.
void note_missing(PlanSummary& plan, std::uint64_t missing, bool interrupted) {
    if (missing > 0) {
        plan.kept -= missing;
        plan.pruned.push_back(interrupted ? PlanSummary::Pruned{std::string(interrupted_rule), "the sweep was interrupted", missing}
                                          : PlanSummary::Pruned{std::string(budget_rule),
                                                                "did not fit into the time budget, or the problem's share of it", missing});
    }
}

/// What an interrupt left of a problem whose trials all have a record; empty: nothing.
std::string unfinished(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates,
                       const Recorder& recorder) {
    if (complete(options, problem, candidates, recorder)) {
        return {};
    }
    return ranked(options, problem, candidates, recorder) ? fmt::format("fewer than {} processes measured it", options.processes)
                                                          : "the finals were not held";
}

Results collect(const SweepOptions& options, const std::vector<ProblemTrials>& plans, const JournalHeader& header, const Recorder& recorder,
                bool interrupted) {
    Results results;
    results.environment = header.environment;
    results.command = header.command;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::string problem_key = options.problems[i].key();
        std::uint64_t missing = 0;
        for (const Candidate& candidate : plans[i].candidates) {
            if (const Record* record = recorder.find(problem_key, candidate.identity())) {
                results.records.push_back(*record);
            } else {
                ++missing;
            }
        }
        results.plans.push_back(plans[i].summary);
        note_missing(results.plans.back(), missing, interrupted);
        if (interrupted && missing == 0) {
            std::string left = unfinished(options, options.problems[i], plans[i].candidates, recorder);
            if (!left.empty()) {
                results.plans.back().pruned.push_back({std::string(interrupted_rule), std::move(left), 0});
            }
        }
    }
    return results;
}

/// "after 3 of 16 trials", "after all 16 trials, with 2 problems to finish (KEY: the finals were not held)".
std::string how_far(const SweepOptions& options, const std::vector<ProblemTrials>& plans, const Recorder& recorder, std::uint64_t total) {
    std::string first;
    std::size_t problems = 0;
    for (std::size_t i = 0; i < plans.size() && recorder.trials_done() == total; ++i) {
        const std::string left = unfinished(options, options.problems[i], plans[i].candidates, recorder);
        problems += left.empty() ? 0 : 1;
        first = first.empty() && !left.empty() ? fmt::format("{}: {}", options.problems[i].key(), left) : first;
    }
    return problems == 0
               ? fmt::format("after {} of {}", recorder.trials_done(), counted(total, "trial"))
               : fmt::format("after {}, with {} to finish ({})", total == 1 ? "its one trial" : fmt::format("all {} trials", total),
                             counted(problems, "problem"), first);
}

/// The journal has all of it, whatever the disk says to the files.
void write_results(const Results& results, const SweepOptions& options) {
    try {
        write_result_files(results, options.out_folder);
    } catch (const SystemError& error) {
        if (options.part_of_another) {
            throw;
        }
        throw SystemError(fmt::format("{}; every trial that was measured is in the journal, and normtune {} --resume {} goes on from there",
                                      error.what(), options.verify_only ? "verify" : "sweep", for_shell(options.out_folder)));
    }
}

}  // namespace

SweepResult run_sweep(const SweepOptions& selected, ProgressSink& progress) {
    check(selected);
    const Deadline end = deadline_in(selected.budget_s);
    const std::vector<DeviceInfo> devices = describe_devices(selected, progress);
    const DeviceInfo& device = devices.front();
    const std::vector<std::shared_ptr<void>> locks = lock_clocks(selected, devices);
    if (const auto& warning = backend_row(selected.backend).warning; warning && !warning().empty()) {
        progress.warn(warning());
    }
    const ShardShare share = share_of(selected.shard, selected.problems, selected.space, backend_traits(selected.backend), device);
    const SweepOptions options = of_shard(selected, share);
    constexpr std::size_t many_problems = 200;  // whose planning takes seconds
    if (options.problems.size() >= many_problems) {
        progress.note(fmt::format("planning {} problems", options.problems.size()));
    }
    std::vector<ProblemTrials> plans = plan_all(options, share, device);
    if (const std::string mixed = options.verify_only ? "" : mixed_launches(plans); !mixed.empty()) {
        progress.warn(mixed);
    }
    SweepStore store(options, device, progress);
    store.take(plans);
    JournalContents contents;
    Journal journal = open_journal(selected, device, plans, store.kernels(), contents, progress);
    store.enter(plans, journal, contents);
    const JournalHeader header = std::move(contents.header);

    std::uint64_t total = 0;
    for (const ProblemTrials& plan : plans) {
        total += plan.candidates.size();
    }
    Recorder recorder(journal, contents, progress, total);
    contents = {};

    const InterruptGuard guard;
    SweepResult result;
    // A GPU's samples wait for no processor; kernels of a provider may run in processes that are not waited for.
    std::optional<OthersLoad> others;
    if (device.backend == Backend::cpu && !selected.verify_only && selected.candidates.providers.empty()) {
        others.emplace();
    }
    try {
        Experience experience;
        WorkQueue queue(devices.size(), groups_of(options, plans, devices, recorder, experience));
        run_on_devices({options, plans, recorder, experience, queue, end}, devices);
    } catch (const Interrupted&) {
        result.interrupted = true;
        progress.warn(fmt::format("interrupted {}{}", how_far(options, plans, recorder, total),
                                  options.part_of_another
                                      ? ""
                                      : fmt::format("; go on with: normtune {} --resume {}", options.verify_only ? "verify" : "sweep",
                                                    for_shell(options.out_folder))));
    }
    if (const std::string busy = others ? others->warning() : ""; !busy.empty()) {
        progress.warn(busy);
    }
    result.results = collect(options, plans, header, recorder, result.interrupted);
    result.results.sweep = sweep_identity(selected);
    result.twin.environment = header.environment;
    result.twin.command = header.command;
    result.twin.records = recorder.take_twins();
    result.under_way = recorder.take_under_way();
    store.keep(result.results, header, recorder);
    for (const Record& record : result.results.records) {
        result.incorrect += record.outcome == Outcome::incorrect ? 1 : 0;
        result.crashed += record.outcome == Outcome::crashed || record.outcome == Outcome::timed_out ? 1 : 0;
    }
    journal.require_in_place();
    write_results(result.results, options);
    return result;
}

SweepOptions options_from_journal(const std::string& folder) {
    const JournalContents contents = read_journal(folder);
    SweepOptions options = sweep_from_text(contents.header.sweep);
    options.command = contents.header.command;
    options.out_folder = folder;
    options.resume = true;
    return options;
}

}  // namespace normtune
