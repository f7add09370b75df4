#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/selection_options.h"
#include "judge/selfcheck.h"
#include "report/table.h"
#include "run/sweep.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/clock.h"

namespace normtune::cli {
namespace {

class SelfcheckCommand : public Command {
public:
    void declare(OptionSet& options) override {
        selection_.declare(options);
        options.one("--trials", whole_number(1, 100'000, trials_),
                    "Configurations drawn for each problem, the same in each sweep (default: 8)");
        options.one("--seed", whole_number(0, std::numeric_limits<std::int64_t>::max(), seed_),
                    "Of what is drawn, the inputs and the order (default: 0)");
        device_.declare(options);
        options.group("Run");
        options.one("--sweeps", whole_number(2, 100, sweeps_),
                    "How often the selection is swept, besides once with each trial twice (default: 6)");
        options.one("--out", folder(out_), "Where the sweeps and policy.yaml go (default: results/run-TIME)");
        options.flag("--quiet", "No progress and no warnings", quiet_);
        options.example("normtune selfcheck --shapes qwen3 --model Qwen3-8B --tokens 512,8192 --space quick");
        options.example("normtune gate --baseline a --candidate b --policy results/run-20261120T235959Z-1f3a/policy.yaml");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        const Work work = selection_.work();
        const DeviceChoice device = device_.choose();
        const std::string folder = create_run_folder(out_);
        SweepOptions options;
        options.command = words;
        options.part_of_another = true;
        options.problems = work.problems;
        options.space = work.space;
        options.backend = device.backend;
        options.ordinals = {device.ordinal};
        options.replay_script = device.replay_script;
        options.strategy = Strategy::random;
        options.most_trials_per_problem = static_cast<std::uint64_t>(trials_);
        options.seed = static_cast<std::uint64_t>(seed_);
        std::vector<ResultRows> sweeps;
        for (std::int64_t i = 1; i <= sweeps_; ++i) {
            const SweepResult swept = sweep(options, folder, fmt::format("sweep-{}", i));
            if (swept.interrupted) {
                return ExitCode::interrupted;
            }
            sweeps.push_back(rows_of(swept.results, fmt::format("sweep-{}", i)));
        }
        options.twins = true;
        const SweepResult twice = sweep(options, folder, "twins");
        if (twice.interrupted) {
            return ExitCode::interrupted;
        }
        fill_result_folder(create_run_folder((std::filesystem::path(folder) / "twins-second").string()), twice.twin);
        std::vector<ResultRows> both;
        both.push_back(rows_of(twice.results, "twins"));
        both.push_back(rows_of(twice.twin, "twins-second"));
        const SelfCheck between = check_itself(sweeps, {});
        const SelfCheck beside = check_itself(both, {});
        for (const SelfCheck& check : {between, beside}) {
            if (check.pairs == 0) {
                complain(check.not_comparable.empty() ? "nothing was measured that could be compared" : check.not_comparable);
                return ExitCode::not_comparable;
            }
        }
        const std::string policy = (std::filesystem::path(folder) / "policy.yaml").string();
        write_file_atomically(policy,
                              policy_from(between, beside, "selfcheck",
                                          fmt::format("Written by normtune selfcheck on {}, {}.", device.info.name, utc_timestamp())));
        print(fmt::format("{}\nA policy with these thresholds: {}\n", report(between, beside), policy));
        return ExitCode::good;
    }

private:
    SweepResult sweep(SweepOptions& options, const std::string& folder, const std::string& name) const {
        options.out_folder = create_run_folder((std::filesystem::path(folder) / name).string());
        ProgressReport progress(stderr, quiet_);
        return run_sweep(options, progress);
    }

    static std::string report(const SelfCheck& between, const SelfCheck& beside) {
        std::string out = fmt::format(
            "{}{} sweeps of the same code, one after another: {} comparisons.\n{}"
            "Two sweeps differ by {:.2f}% (standard deviation), beyond what their rounds explain.\n",
            "Each trial twice in the same rounds.\n" + alarms(beside) + "\n", between.sweeps, between.comparisons, alarms(between),
            between.run_to_run * 100);
        if (!between.noisier.empty()) {
            Table table({{"noisier than that"}, {"threshold", Align::right}});
            for (const SelfCheck::Problem& problem : between.noisier) {
                table.add({problem.key, fmt::format("{:.1f}%", problem.change * 100)});
            }
            out += fmt::format("\n{}", table.text(style_of(stdout)));
        }
        return out;
    }

    static std::string alarms(const SelfCheck& check) {
        return fmt::format(
            "False alarms: {} of {} pairs ({:.2f}%) called faster or slower; {} ({:.1f}%) ambiguous.\n"
            "A change that is found 95 times in 100: {:.1f}% (median of the pairs).\n",
            check.called, grouped(check.pairs), share(check.called, check), check.ambiguous, share(check.ambiguous, check),
            check.usual_change * 100);
    }

    static double share(std::size_t count, const SelfCheck& check) {
        return 100 * static_cast<double>(count) / static_cast<double>(check.pairs);
    }

    SelectionOptions selection_;
    DeviceOptions device_;
    std::int64_t trials_ = 8;
    std::int64_t seed_ = 0;
    std::int64_t sweeps_ = 6;
    std::string out_;
    bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_selfcheck_command() {
    return std::make_unique<SelfcheckCommand>();
}

}  // namespace normtune::cli
