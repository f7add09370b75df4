#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "report/outcomes.h"
#include "report/winners.h"
#include "store/merge.h"
#include "store/run_folder.h"

namespace normtune::cli {
namespace {

class MergeCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.many("RESULTS", file(files_), "Run folders or results.json: shards of a sweep, or sweeps of other problems");
        options.one("-o,--out", folder(out_), "Where results.csv, results.json and liger.csv go; new or empty");
        options.list("--across", name_of(merge_facet_names, settings_.across), "What may differ; without it such results are refused");
        options.flag("--partial", "Merge although shards are missing or were interrupted", settings_.partial);
        options.example("normtune merge shard-1 shard-2 shard-3 shard-4 -o merged");
        options.example("normtune merge qwen3/results.json llama3/results.json -o both --across version");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        if (files_.empty()) {
            throw InputError("no results are named; give run folders or results.json files");
        }
        if (out_.empty()) {
            throw InputError("-o DIR is missing: where the merged results go");
        }
        std::vector<NamedResults> parts;
        for (const std::string& file : files_) {
            require_results(file);
            parts.push_back({file, read_results_json(file)});
        }
        Merged merged = merge_results(std::move(parts), settings_);
        if (!merged.refused.empty()) {
            complain(merged.refused);
            return ExitCode::not_comparable;
        }
        if (!merged.incomplete.empty()) {
            complain(merged.incomplete);
        }
        merged.results.command = words;
        const NewRunFolder folder(out_);
        fill_result_folder(folder.path(), merged.results);
        report(merged.results, folder.path());
        return ExitCode::good;
    }

private:
    void report(const Results& results, const std::string& folder) const {
        const Style style = style_of(stdout);
        print(fmt::format("{}\n{}\nMerged {} file{} into {}: results.csv, results.json, liger.csv\n",
                          winners_table(find_winners(results), terminal_width(stdout), style.color), outcomes_text(results, style),
                          files_.size(), files_.size() == 1 ? "" : "s", folder));
    }

    std::vector<std::string> files_;
    std::string out_;
    MergeSettings settings_;
};

}  // namespace

std::unique_ptr<Command> make_merge_command() {
    return std::make_unique<MergeCommand>();
}

}  // namespace normtune::cli
