#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "judge/trend.h"
#include "report/history_report.h"
#include "report/page/pages.h"
#include "store/history.h"
#include "store/history_rows.h"
#include "store/results_stream.h"
#include "support/atomic_file.h"
#include "support/clock.h"
#include "support/config_file.h"
#include "support/pattern.h"
#include "support/plural.h"
#include "support/text_sink.h"
#include "trial/field.h"

namespace normtune::cli {
namespace {

enum class Action { add, list, trend, export_, import };
constexpr NameTable<Action, 5> action_names{{"add", "list", "trend", "export", "import"}};
constexpr std::int64_t most_nights = 10'000;
constexpr std::size_t day_length = 10;  // "2026-11-20"
constexpr std::size_t most_taken_out_shown = 10;

/// "  taken out: KEY: incorrect", a line each.
std::string taken_out_text(const std::vector<HistoryFailure>& failures) {
    std::string out;
    for (std::size_t i = 0; i < std::min(failures.size(), most_taken_out_shown); ++i) {
        const HistoryTrial& trial = failures[i].trial;
        out += fmt::format("  taken out: {} {}: {}\n", trial.problem, trial.candidate(), outcome_names.name(failures[i].outcome));
    }
    return failures.size() <= most_taken_out_shown ? out : out + fmt::format("  and {} more\n", failures.size() - most_taken_out_shown);
}

class HistoryCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("ACTION", name_of(action_names, action_),
                    "add: put results into the history\nlist: the runs that it has\ntrend: what changed, when and with what; exit code 1 "
                    "where the newest run is a regression\nexport: one run for another tool; import: runs of another tool");
        options.many("FILE", file(files_),
                     "add: results.json or results.csv files, or run folders\nimport: Bencher's JSON (BMF) or Google Benchmark's");
        options.one("--db", file(database_), "The history (default: $NORMTUNE_HISTORY, else ~/.local/share/normtune/history.sqlite3)");
        options.group("add and import: what files do not say");
        options.one("--started", text("TIME", labels_.started), "When the run began, as 2026-11-20T23:59:59Z");
        options.one("--revision", text("TEXT", labels_.revision), "Of the code that was measured (default: normtune's own)");
        options.one("--compiler", text("TEXT", labels_.compiler), "With which it was compiled");
        options.one("--driver", text("TEXT", labels_.driver), "Of the device");
        options.group("trend, list and export");
        options.one("--policy", shipped_file("gates", policy_), "Of trend: what counts, as for gate (default: default)");
        options.one("--nights", whole_number(1, most_nights, nights_), "Of trend: the newest so many of each series (default: 300)");
        options.one("--problem", text("PATTERN", filter_.problem), "Only these problems; * and ? match as in a shell");
        options.one("--config", text("PATTERN", filter_.candidate), "Only these configurations, or provider:key");
        options.one("--device-name", text("NAME", device_),
                    "Only devices of this name, a pattern;\nadd and import: what the device is called");
        options.one("--run", text("TIME", run_), "Of export: the run that began then (default: the newest)");
        options.one("-o,--output", file(output_), "Of export, and of trend as html: write this file instead of stdout (-)");
        table_.declare(options, {"html", "bmf", "google-benchmark"},
                       "json: schemas/history.schema.json; markdown: for a comment;\ntrend: html, a page with each series drawn (-o "
                       "trend.html);\nexport: bmf, which it has without this, or google-benchmark");
        options.example(fmt::format("normtune history add {} --revision $(git rev-parse HEAD)", example_run));
        options.example("normtune history trend --policy heuristics --format markdown");
        options.example("normtune history trend --format html -o trend.html");
        options.example("normtune history export --format google-benchmark -o night.json");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (!action_) {
            throw InputError(fmt::format("what is to be done? give {}", fmt::join(action_names.names, ", ")));
        }
        require_options_of_action();
        if (database_.empty()) {
            database_ = history_path();
        }
        if (database_.empty()) {
            throw InputError("NORMTUNE_HISTORY is empty, or HOME is not set, so there is no history; give --db FILE");
        }
        std::error_code ignored;
        if (std::filesystem::equivalent(database_, output_, ignored)) {
            throw InputError(fmt::format("{}: is the history, which this would take the place of; give another -o", output_));
        }
        switch (*action_) {
            case Action::add:
            case Action::import:
                return add();
            case Action::list:
                return list();
            case Action::export_:
                return export_run();
            case Action::trend:
                break;
        }
        return trend();
    }

private:
    bool adds() const { return *action_ == Action::add || *action_ == Action::import; }

    void require_options_of_action() {
        const auto require = [&](std::string_view option, bool given, bool right, std::string_view where) {
            if (given && !right) {
                throw InputError(fmt::format("{} goes with history {}", option, where));
            }
        };
        const bool reads = *action_ == Action::trend || *action_ == Action::export_;
        require("a FILE", !files_.empty(), adds(), "add and import");
        require("--started", !labels_.started.empty(), adds(), "add and import");
        require("--revision", !labels_.revision.empty(), adds(), "add and import");
        require("--compiler", !labels_.compiler.empty(), adds(), "add and import");
        require("--driver", !labels_.driver.empty(), adds(), "add and import");
        require("--policy", !policy_.empty(), *action_ == Action::trend, "trend");
        require("--nights", nights_.has_value(), *action_ == Action::trend, "trend");
        require("--problem", !filter_.problem.empty(), reads, "trend and export");
        require("--config", !filter_.candidate.empty(), reads, "trend and export");
        require("--run", !run_.empty(), *action_ == Action::export_, "export");
        require("--output", !output_.empty(), *action_ == Action::export_ || (*action_ == Action::trend && table_.is("html")),
                "export and trend --format html");
        const bool of_export = table_.is("bmf") || table_.is("google-benchmark");
        const bool of_another = *action_ == Action::export_ ? !of_export && !table_.is("table") : of_export;
        require("this --format", of_another, false, of_export ? "export" : "trend and list");
        require("--format html", table_.is("html"), *action_ == Action::trend, "trend");
        require("--format", adds() && table_.given(), false, "trend, list and export");
        for (const auto& [option, time] : {std::pair("--started", &labels_.started), std::pair("--run", &run_)}) {
            if (!is_timestamp(*time)) {
                throw InputError(fmt::format("{}: {} is not {}", option, quoted_for_message(*time), timestamp_wanted));
            }
        }
        (adds() ? labels_.device : filter_.device) = device_;
    }

    /// Reads all before it adds any.
    ExitCode add() {
        const bool import = *action_ == Action::import;
        if (files_.empty()) {
            throw InputError(import ? "no file is named; give Bencher's JSON or Google Benchmark's"
                                    : "no results are named; give results.json or results.csv files, or run folders");
        }
        std::vector<HistoryBatch> batches;
        std::vector<std::string> remarks;
        for (const std::string& path : files_) {
            const Notice notice("reading " + path);
            HistoryInput input = import ? parse_benchmarks(read_file(path), path, labels_) : history_of(read_results(path), path, labels_);
            if (!input.no_times.empty() && !has_any(input.batches)) {
                throw InputError(input.no_times);
            }
            std::move(input.batches.begin(), input.batches.end(), std::back_inserter(batches));
            remarks.insert(remarks.end(), input.remarks.begin(), input.remarks.end());
        }
        for (const HistoryBatch& batch : batches) {
            if (batch.run.started > latest_timestamp()) {
                throw InputError(
                    fmt::format("{}: it began at {}, which is to come; --started says when it did", batch.run.source, batch.run.started));
            }
        }
        const HistoryAdded added = HistoryStore::open_or_create(database_).add(batches);
        for (const std::string& remark : remarks) {
            complain(remark);
        }
        std::string line = fmt::format("{} added to {}", counted(added.fresh, "trial"), database_);
        line += added.replaced > 0 ? fmt::format(", {} replaced", added.replaced) : "";
        line += added.same > 0 ? fmt::format(", {} {} there already", added.same, added.same == 1 ? "was" : "were") : "";
        line += added.taken_out.empty() ? "" : fmt::format(", {} without a time now", added.taken_out.size());
        print(line + "\n" + taken_out_text(added.taken_out));
        return ExitCode::good;
    }

    /// Is one of these runs in the history?
    bool has_any(const std::vector<HistoryBatch>& batches) const {
        std::optional<HistoryStore> store = HistoryStore::open(database_);
        return store && std::ranges::any_of(batches, [&](const HistoryBatch& batch) { return store->has(batch.run); });
    }

    static Results read_results(const std::string& path) {
        Results results = path.ends_with(".csv") ? read_results_csv(path) : read_judged_results(path);
        require_each_trial_once(results.records, path);
        return results;
    }

    HistoryStore open() const {
        std::optional<HistoryStore> store = HistoryStore::open(database_);
        if (!store) {
            throw InputError(fmt::format("{}: there is no history yet; normtune history add fills it", database_));
        }
        return std::move(*store);
    }

    ExitCode list() {
        std::vector<HistoryRunSummary> runs = open().runs();
        std::erase_if(runs, [&](const HistoryRunSummary& it) { return !device_.empty() && !matches_pattern(device_, it.run.device); });
        if (table_.is("json")) {
            table_.require_no_order();
            print_data(history_runs_json(runs));
        } else {
            table_.show(history_sections(runs));
        }
        return ExitCode::good;
    }

    History read() const {
        History history = open().read(filter_);
        if (history.series.empty()) {
            throw InputError(fmt::format("{}: has no trial of {}", database_,
                                         filter_.problem.empty() && filter_.candidate.empty() && filter_.device.empty()
                                             ? "any run"
                                             : "this problem, configuration and device"));
        }
        return history;
    }

    ExitCode trend() {
        constexpr std::int64_t usual_nights = 300;
        const auto nights = static_cast<std::size_t>(nights_.value_or(usual_nights));
        const ConfigFile file = load_config("gates", policy_.empty() ? "default" : policy_);
        const Policy policy = parse_policy(file.text, file.file);
        require_known_words(policy, file.file, {});  // a history knows ops and modes of normtune's keys alone
        const bool of_winners = policy.by == MatchBy::best;
        filter_.nights = of_winners ? 0 : nights;  // a night's winner is found among all that it measured
        History history = read();
        if (of_winners) {
            history = winners_of(history, nights);
        }
        const Trend trend = find_trend(history, policy, utc_timestamp().substr(0, day_length));
        if (table_.is("html")) {
            table_.require_no_order();
            write_output(output_, [&](TextSink& out) { write_trend_page(out, history, trend); });
        } else if (table_.is("json") || table_.is("markdown")) {
            table_.require_no_order();
            print_data(table_.is("json") ? trend_json(history, trend) : trend_markdown(history, trend));
        } else {
            table_.show(trend_sections(history, trend, table_.is("table") && !table_.orders()));
        }
        return trend.regression() ? ExitCode::regression : ExitCode::good;
    }

    ExitCode export_run() {
        const History history = read();
        std::vector<std::string> remarks;
        const std::optional<HistoryBatch> batch = night_of(history, run_, remarks);
        if (!batch) {
            throw InputError(fmt::format("{}: no run began at {}; normtune history list names those that it has", database_, run_));
        }
        for (const std::string& remark : remarks) {
            complain(remark);
        }
        const std::string json = table_.is("google-benchmark") ? google_benchmark_json(*batch) : bencher_json(*batch);
        write_output(output_, [&](TextSink& out) { out += json; });
        return ExitCode::good;
    }

    std::optional<Action> action_;
    std::vector<std::string> files_;
    std::string database_;
    HistoryLabels labels_;
    TableOptions table_;
    std::string policy_;
    std::optional<std::int64_t> nights_;
    HistoryFilter filter_;
    std::string device_;
    std::string run_;
    std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_history_command() {
    return std::make_unique<HistoryCommand>();
}

}  // namespace normtune::cli
