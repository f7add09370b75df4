#include "run/remeasure.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "measure/strategies/strategy.h"
#include "run/planning.h"
#include "store/run_folder.h"
#include "support/descriptor.h"
#include "support/error.h"
#include "support/scratch_folder.h"

namespace normtune {
namespace {

/// A sweep each for problems with the same trials; the trials of a problem are in the same rounds.
Results measure_again(const std::vector<TrialsAgain>& wanted, const std::vector<std::string>& command, const DeviceChoice& device,
                      const MakeSink& make_sink) {
    std::map<std::pair<bool, std::vector<std::string>>, std::vector<Problem>> problems_of;  // by cold, and keys
    for (const TrialsAgain& trials : wanted) {
        std::vector<std::string> keys;
        for (const Configuration& configuration : trials.configurations) {
            keys.push_back(configuration.key());
        }
        std::sort(keys.begin(), keys.end());
        problems_of[{trials.cold, keys}].push_back(trials.problem);
    }
    Results out;
    for (const auto& [what, problems] : problems_of) {
        std::vector<Configuration> configurations;
        for (const std::string& key : what.second) {
            configurations.push_back(Configuration::parse(key));
        }
        const ScratchFolder folder;
        SweepOptions options;
        options.command = command;
        options.problems = problems;
        options.space = space_of(configurations);
        device.set(options);
        options.cold = what.first;
        options.strategy = find_strategy("exhaustive");
        options.stop_rule.least_rounds = options.stop_rule.most_rounds;  // it matters: as many rounds as there may be
        options.out_folder = folder.path();
        options.part_of_another = true;
        SweepResult swept = run_sweep(options, *make_sink());
        if (swept.interrupted) {
            throw InterruptedError("interrupted while trials were measured again: nothing is judged");
        }
        out.environment = swept.results.environment;
        std::move(swept.results.records.begin(), swept.results.records.end(), std::back_inserter(out.records));
    }
    return out;
}

std::vector<TrialsAgain> trials_of(const Suspects& suspects) {
    std::map<std::string, TrialsAgain> by_problem;
    for (const Suspects::Trial& suspect : suspects.trials) {
        TrialsAgain& trials = by_problem[suspect.problem];
        trials.problem = parse_problem_key(suspect.problem);
        trials.cold = suspects.cold;
        trials.configurations.push_back(Configuration::parse(suspect.configuration));
    }
    std::vector<TrialsAgain> out;
    for (auto& [key, trials] : by_problem) {
        out.push_back(std::move(trials));
    }
    return out;
}

void require_device(std::string_view option, std::string_view what, std::string_view device, const DeviceInfo& here) {
    if (device != here.name) {
        throw InputError(
            fmt::format("{}: {} of {}, and this device is {}", option, what, quoted_for_message(device), quoted_for_message(here.name)));
    }
}

}  // namespace

void confirm_suspects(GateVerdict& verdict, const Policy& policy, const ResultRows& baseline, const DeviceWish& device,
                      const MakeSink& make_sink) {
    const Suspects suspects = suspects_of(verdict);
    if (suspects.trials.empty()) {
        return;
    }
    const DeviceChoice chosen = choose_devices(device);
    const std::vector<Facet>& across = policy.across;
    if (std::ranges::find(across, Facet::device) == across.end()) {
        for (const RowOrigin& origin : baseline.origins) {
            if (const std::string_view name = baseline.text(origin.device); !name.empty()) {
                require_device("--confirm", "the baseline is", name, chosen.info);
            }
        }
    }
    const ResultRows fresh =
        rows_of(measure_again(trials_of(suspects), {"normtune", "gate", "--confirm"}, chosen, make_sink), "the fresh measurement");
    const Comparison comparison = compare(baseline, fresh, policy.settings(Metric::latency));
    if (!comparison.not_comparable.empty()) {
        throw InputError(fmt::format("--confirm: {}", comparison.not_comparable));
    }
    confirm(verdict, policy, comparison);
}

void judge_measuring(std::span<const Results> runs, const DeviceWish& device, const std::vector<std::string>& command,
                     const MakeSink& make_sink, const Judge& judge) {
    constexpr int most = 8;  // sweeps of a problem: what turns out slower than its few rounds said makes room for the next
    std::vector<Results> fresh;
    std::optional<DeviceChoice> chosen;
    for (std::vector<TrialsAgain> wanted = judge(fresh); !wanted.empty() && fresh.size() < most; wanted = judge(fresh)) {
        if (!chosen) {
            chosen = choose_devices(device);
            for (const Results& run : runs) {
                require_device("--measure", "the results are", run.environment.device.name, chosen->info);
            }
        }
        fresh.push_back(measure_again(wanted, command, *chosen, make_sink));
    }
}

RepeatedSweeps repeat_sweep(SweepOptions options, int times, const std::string& folder, const MakeSink& make_sink) {
    RepeatedSweeps out;
    const auto new_folder = [&](const std::string& name) { return create_run_folder((std::filesystem::path(folder) / name).string()); };
    const auto sweep = [&](const std::string& name) {
        options.out_folder = new_folder(name);
        SweepResult swept = run_sweep(options, *make_sink());
        out.interrupted = swept.interrupted;
        return swept;
    };
    for (int i = 1; i <= times && !out.interrupted; ++i) {
        const std::string name = fmt::format("sweep-{}", i);
        out.sweeps.push_back(rows_of(sweep(name).results, name));
    }
    if (!out.interrupted) {
        options.twins = true;
        const SweepResult twice = sweep("twins");
        out.twins.push_back(rows_of(twice.results, "twins"));
        out.twins.push_back(rows_of(twice.twin, "twins-second"));
        if (!out.interrupted) {
            fill_result_folder(new_folder("twins-second"), twice.twin);
        }
    }
    return out;
}

}  // namespace normtune
