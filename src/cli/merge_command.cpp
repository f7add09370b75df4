#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table_options.h"
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
        table_.declare(options, {}, "json: schemas/winners.schema.json");
        options.example("normtune merge shard-1 shard-2 shard-3 shard-4 -o merged");
        options.example("normtune merge qwen3/results.json llama3/results.json -o both --across version");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        if (table_.is("json")) {
            table_.require_no_order();
        }
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
        if (table_.is("json")) {
            print_data(winners_json({&results, 1}));
            return;
        }
        std::vector<Section> sections = winners_sections(results);
        sections.push_back({"", Table(), outcomes_text(results)});
        sections.push_back({"", Table(),
                            fmt::format("Merged {} file{} into {}: results.csv, results.json, liger.csv\n", files_.size(),
                                        files_.size() == 1 ? "" : "s", folder)});
        table_.show(std::move(sections));
    }

    std::vector<std::string> files_;
    std::string out_;
    MergeSettings settings_;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_merge_command() {
    return std::make_unique<MergeCommand>();
}

}  // namespace normtune::cli
