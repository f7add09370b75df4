#include "cli/run_report.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/progress.h"
#include "store/run_folder.h"

namespace normtune::cli {
namespace {

namespace fs = std::filesystem;

/// A new run's folder. One that holds nothing at the end, for the run could not start, is taken away again.
class NewFolder {
public:
    explicit NewFolder(const std::string& out) {
        std::error_code error;
        kept_ = fs::absolute(out.empty() ? "results" : out, error);
        while (!fs::exists(kept_, error) && kept_.has_relative_path()) {
            kept_ = kept_.parent_path();
        }
        path_ = create_run_folder(out);
    }
    ~NewFolder() {
        std::error_code stop;
        for (fs::path made = fs::absolute(path_, stop); !stop && made != kept_ && fs::remove(made, stop);) {
            made = made.parent_path();
        }
    }
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;

    const std::string& path() const { return path_; }

private:
    fs::path kept_;  // was there before
    std::string path_;
};

}  // namespace

SweepResult run_with_progress(const RunOptions& run, SweepOptions& options) {
    std::optional<NewFolder> folder;
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

std::string files_text(const std::string& folder) {
    return fmt::format("\nFiles in {}: results.csv, results.json, liger.csv, journal.jsonl\n", folder);
}

}  // namespace normtune::cli
