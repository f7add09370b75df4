#include "cli/remeasure.h"

#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "cli/progress.h"
#include "run/sweep.h"
#include "support/descriptor.h"

namespace normtune::cli {
namespace {

class TemporaryFolder {
public:
    TemporaryFolder() {
        path_ = (std::filesystem::temp_directory_path() / "normtune-XXXXXX").string();
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

}  // namespace

Results remeasure(const std::vector<TrialKey>& trials, const DeviceChoice& device, bool cold, bool quiet) {
    std::map<std::string, std::vector<Problem>> problems_of;
    for (const TrialKey& trial : trials) {
        problems_of[trial.configuration].push_back(parse_problem_key(trial.problem));
    }
    Results out;
    for (const auto& [configuration, problems] : problems_of) {
        const TemporaryFolder folder;
        SweepOptions options;
        options.command = {"normtune", "gate", "--confirm"};
        options.problems = problems;
        options.space = space_of(Configuration::parse(configuration));
        options.backend = device.backend;
        options.ordinals = {device.ordinal};
        options.replay_script = device.replay_script;
        options.cold = cold;
        options.strategy = Strategy::exhaustive;
        options.stop_rule.least_rounds = options.stop_rule.most_rounds;  // it matters: as many rounds as there may be
        options.out_folder = folder.path();
        options.part_of_another = true;
        ProgressReport progress(stderr, quiet);
        SweepResult swept = run_sweep(options, progress);
        if (swept.interrupted) {
            throw SystemError("interrupted while suspects were measured again");
        }
        out.environment = swept.results.environment;
        std::move(swept.results.records.begin(), swept.results.records.end(), std::back_inserter(out.records));
    }
    return out;
}

}  // namespace normtune::cli
