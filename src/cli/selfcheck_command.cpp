#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/selection_options.h"
#include "cli/table_options.h"
#include "report/selfcheck_report.h"
#include "run/remeasure.h"
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
        table_.declare(options);
        options.example("normtune selfcheck --shapes qwen3 --model Qwen3-8B --tokens 512,8192 --space quick");
        options.example(fmt::format("normtune gate --baseline a --candidate b --policy {}/policy.yaml", example_run));
    }

    ExitCode run(const std::vector<std::string>& words) override {
        table_.require_order(headings_of({noisier_columns}));
        Work work = selection_.work();
        const DeviceChoice device = device_.choose();
        const std::string folder = create_run_folder(out_);
        SweepOptions options;
        options.command = words;
        options.part_of_another = true;
        options.problems = std::move(work.problems);
        options.space = std::move(work.space);
        device.set(options);
        options.strategy = find_strategy("random");
        options.most_trials_per_problem = static_cast<std::uint64_t>(trials_);
        options.seed = static_cast<std::uint64_t>(seed_);
        const RepeatedSweeps repeated = repeat_sweep(options, static_cast<int>(sweeps_), folder, progress_on_stderr(quiet_));
        if (repeated.interrupted) {
            return ExitCode::interrupted;
        }
        const SelfCheck between = check_itself(repeated.sweeps, {});
        const SelfCheck beside = check_itself(repeated.twins, {});
        for (const SelfCheck& check : {between, beside}) {
            if (check.pairs == 0) {
                complain(check.not_comparable.empty() ? "nothing was measured that could be compared" : check.not_comparable);
                return ExitCode::not_comparable;
            }
        }
        const std::string policy = (std::filesystem::path(folder) / "policy.yaml").string();
        const std::string remark = fmt::format("Written by normtune selfcheck on {}, {}.", device.info.name, utc_timestamp());
        write_file_atomically(policy, policy_from(between, beside, "selfcheck", remark));
        std::vector<Section> sections = selfcheck_sections(between, beside);
        sections.push_back({"", Table(), fmt::format("A policy with these thresholds: {}\n", policy)});
        table_.show(std::move(sections));
        return ExitCode::good;
    }

private:
    SelectionOptions selection_;
    DeviceOptions device_;
    std::int64_t trials_ = 8;
    std::int64_t seed_ = 0;
    std::int64_t sweeps_ = 6;
    std::string out_;
    bool quiet_ = false;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_selfcheck_command() {
    return std::make_unique<SelfcheckCommand>();
}

}  // namespace normtune::cli
