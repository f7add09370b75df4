#include <algorithm>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "report/outcomes.h"
#include "report/winners.h"
#include "store/merge.h"
#include "store/record_file.h"
#include "store/results_stream.h"
#include "store/run_folder.h"
#include "support/parallel.h"
#include "support/plural.h"

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
        std::vector<RecordFile> sources;
        std::vector<NamedResults> parts;
        sources.reserve(files_.size());  // the parts ask them
        for (const std::string& file : files_) {
            const Notice notice("reading " + file);
            RecordFile& source = sources.emplace_back(file);
            parts.push_back({file, std::move(source.results()), [&source](std::size_t i) { return source.whole(i); }});
        }
        std::vector<std::pair<const RecordFile*, std::size_t>> places;  // of all records, one file after the other
        for (std::size_t file = 0; file < parts.size(); ++file) {
            for (std::size_t i = 0; i < parts[file].results.records.size(); ++i) {
                places.emplace_back(&sources[file], i);
            }
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
        const auto record = [&](std::size_t i) {
            const auto [source, index] = places[merged.order[i]];
            return source->whole(index);
        };
        const NewRunFolder folder(out_);
        Best best(merged.results);
        {
            const Notice notice("writing " + counted(merged.order.size(), "trial"));
            fill_folder(folder.path(), [&](const std::string& place) { write(merged, record, place, best); });
        }
        report(merged.results, best, folder.path());
        return ExitCode::good;
    }

private:
    /// The winners of each problem, as its records pass by.
    class Best {
    public:
        explicit Best(const Results& head) {
            for (const PlanSummary& plan : head.plans) {
                plans_.emplace(plan.problem_key, &plan);
            }
            problem_.environment = head.environment;
            liger_.environment = head.environment;
        }
        void pass(const Record& record) {
            if (!problem_.records.empty() && problem_.records.front().problem.key() != record.problem.key()) {
                end();
            }
            problem_.records.push_back(record);
        }
        /// Behind a problem's last record.
        void end() {
            if (problem_.records.empty()) {
                return;
            }
            const auto plan = plans_.find(problem_.records.front().problem.key());
            problem_.plans.clear();
            if (plan != plans_.end()) {
                problem_.plans.push_back(*plan->second);
            }
            add(find_winners(problem_), winners_);
            add(find_leaders(problem_), leaders_);
            for (const Record* record : liger_winners(problem_.records)) {
                liger_.records.push_back(*record);
            }
            problem_.records.clear();
        }
        const std::vector<Winner>& winners() const { return winners_; }
        const std::vector<Winner>& leaders() const { return leaders_; }
        const Results& liger() const { return liger_; }

    private:
        void add(const std::vector<Winner>& found, std::vector<Winner>& to) {
            for (Winner winner : found) {
                winner.record = &records_.emplace_back(*winner.record);
                to.push_back(std::move(winner));
            }
        }

        std::unordered_map<std::string_view, const PlanSummary*> plans_;
        Results problem_;  // the present one
        Results liger_;    // what liger.csv is made of
        std::deque<Record> records_;
        std::vector<Winner> winners_, leaders_;
    };

    /// results.csv and results.json in one pass over the records, which are read again for it.
    static void write(const Merged& merged, const std::function<Record(std::size_t)>& record, const std::string& place, Best& best) {
        const auto each = [&](const TakeRecord& csv, const TakeRecord& json) {
            constexpr std::size_t at_once = 512;
            std::vector<Record> records;
            for (std::size_t first = 0; first < merged.order.size(); first += at_once) {
                records.resize(std::min(at_once, merged.order.size() - first));
                on_all_cores(records.size(), [&](std::size_t i) { records[i] = record(first + i); });
                for (const Record& one : records) {
                    csv(one);
                    json(one);
                    best.pass(one);
                }
            }
            best.end();
        };
        const Results& head = merged.results;
        write_results_csv(
            head, merged.order.size(),
            [&](const TakeRecord& csv) {
                write_results_json(
                    head, [&](const TakeRecord& json) { each(csv, json); }, place + "/results.json");
            },
            place + "/results.csv");
        write_liger_csv(best.liger(), place + "/liger.csv");
    }

    void report(const Results& results, const Best& best, const std::string& folder) const {
        if (table_.is("json")) {
            print_data(winners_json(results.environment, best.winners()));
            return;
        }
        std::vector<Section> sections = winners_sections(best.winners(), best.leaders());
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
