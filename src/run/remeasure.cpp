#include "run/remeasure.h"

#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "measure/strategies/strategy.h"
#include "run/planning.h"
#include "store/run_folder.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace normtune {
namespace {

class TemporaryFolder {
public:
    TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "normtune-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw SystemError(fmt::format("{}: the folder cannot be created: {}", path_, system_reason(errno)));
        }
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Sweeps exactly these trials, in folders that are removed again; those of one configuration share a sweep.
Results measure_again(const Suspects& suspects, const DeviceChoice& device, const MakeSink& make_sink) {
    std::map<std::string, std::vector<Problem>> problems_of;
    for (const Suspects::Trial& trial : suspects.trials) {
        problems_of[trial.configuration].push_back(parse_problem_key(trial.problem));
    }
    Results out;
    for (const auto& [configuration, problems] : problems_of) {
        const TemporaryFolder folder;
        SweepOptions options;
        options.command = {"normtune", "gate", "--confirm"};
        options.problems = problems;
        options.space = one_point_space(Configuration::parse(configuration));
        device.set(options);
        options.cold = suspects.cold;
        options.strategy = find_strategy("exhaustive");
        options.stop_rule.least_rounds = options.stop_rule.most_rounds;  // it matters: as many rounds as there may be
        options.out_folder = folder.path();
        options.part_of_another = true;
        SweepResult swept = run_sweep(options, *make_sink());
        if (swept.interrupted) {
            throw SystemError("interrupted while suspects were measured again");
        }
        out.environment = swept.results.environment;
        std::move(swept.results.records.begin(), swept.results.records.end(), std::back_inserter(out.records));
    }
    return out;
}

}  // namespace

void confirm_suspects(GateVerdict& verdict, const Policy& policy, const ResultRows& baseline, const DeviceWish& device,
                      const MakeSink& make_sink) {
    const Suspects suspects = suspects_of(verdict);
    if (suspects.trials.empty()) {
        return;
    }
    const ResultRows fresh = rows_of(measure_again(suspects, choose_devices(device), make_sink), "the fresh measurement");
    const Comparison comparison = compare(baseline, fresh, policy.settings(Metric::latency));
    if (!comparison.not_comparable.empty()) {
        throw InputError(fmt::format("--confirm: {}", comparison.not_comparable));
    }
    confirm(verdict, policy, comparison);
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
