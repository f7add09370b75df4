#include "cli/run_report.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cli/progress.h"
#include "report/outcomes.h"
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

namespace {

/// Of a provider's kernels that were tried none passed: its source does not compile, its launch.json names another kernel, or it refuses
/// all that it claimed.
bool failed_whole(const std::vector<Record>& records) {
    std::map<std::string_view, bool> passed;
    for (const Record& record : records) {
        if (record.outcome != Outcome::pruned) {
            passed[record.candidate.provider()] |= record.outcome == Outcome::passed;
        }
    }
    return std::ranges::any_of(passed, [](const auto& provider) { return !provider.second; });
}

}  // namespace

ExitCode exit_code_of(const SweepResult& result) {
    if (result.interrupted) {
        return ExitCode::interrupted;
    }
    return result.incorrect + result.crashed > 0 || failed_whole(result.results.records) ? ExitCode::faulty_trials : ExitCode::good;
}

std::vector<Section> run_sections(const SweepOptions& options, const SweepResult& result, std::vector<Section> found) {
    std::vector<Section> out;
    if (!options.shard.whole()) {
        const std::size_t own = result.results.plans.size();
        const std::size_t all = options.problems.size();
        out.push_back({"", Table(),
                       own > 0 ? fmt::format("Shard {}: {} of {} problems.\n", options.shard.text(), own, all)
                               : fmt::format("Shard {}: none of the {} problems falls to it.\n", options.shard.text(), all)});
    }
    std::move(found.begin(), found.end(), std::back_inserter(out));
    out.push_back({"", Table(), outcomes_text(result.results)});
    out.push_back({"", Table(), fmt::format("Files in {}: results.csv, results.json, liger.csv, journal.jsonl\n", options.out_folder)});
    return out;
}

}  // namespace normtune::cli
