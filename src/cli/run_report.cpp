#include "cli/run_report.h"

#include <optional>

#include <fmt/format.h>

#include "cli/progress.h"
#include "store/run_folder.h"

namespace normtune::cli {
SweepResult run_with_progress(const RunOptions& run, SweepOptions& options) {
    std::optional<NewRunFolder> folder;
    if (!options.resume) {
        options.out_folder = folder.emplace(run.out()).path();
    }
    ProgressReport progress(stderr, run.quiet());
    return run_sweep(options, progress);
}

ExitCode exit_code_of(const SweepResult& result) {
    if (result.interrupted) {
        return ExitCode::interrupted;
    }
    return result.incorrect + result.crashed > 0 ? ExitCode::faulty_trials : ExitCode::good;
}

std::string shard_text(const SweepOptions& options, const SweepResult& result) {
    if (options.shard.whole()) {
        return {};
    }
    const std::size_t own = result.results.plans.size();
    const std::size_t all = options.problems.size();
    return own > 0 ? fmt::format("Shard {}: {} of {} problems.\n\n", options.shard.text(), own, all)
                   : fmt::format("Shard {}: none of the {} problems falls to it.\n\n", options.shard.text(), all);
}

std::string files_text(const std::string& folder) {
    return fmt::format("\nFiles in {}: results.csv, results.json, liger.csv, journal.jsonl\n", folder);
}

}  // namespace normtune::cli
