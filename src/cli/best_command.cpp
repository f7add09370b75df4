#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/restriction_options.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "cli/torch_folder.h"
#include "devices/registry.h"
#include "judge/nearest_device.h"
#include "judge/side_by_side.h"
#include "report/export/best_export.h"
#include "report/side_by_side_report.h"
#include "report/winners.h"
#include "store/results_stream.h"
#include "store/stored_results.h"
#include "support/escape.h"
#include "support/pattern.h"
#include "support/plural.h"

namespace normtune::cli {
namespace {

class BestCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.many("RESULTS", file(files_), "results.json files, or run folders that hold one");
        options.many("--problem", text("PATTERN", problems_), "Only problems whose key matches one of these; * and ? match as in a shell");
        options.flag("--providers", "Instead: the best of each provider beside normtune's own (docs/peers.md)", providers_);
        options.flag("--from-db", "Instead of results: of each problem what the store of winners has newest", from_db_);
        options.one("--device-name", text("PATTERN", filter_.device),
                    "Of the store: only devices of this name; * and ? match as in a shell");
        options.one("--arch", text("PATTERN", filter_.arch), "Of the store: only these architectures, as sm_90 or 'gfx*'");
        options.flag("--hot", "Of the store: what was measured on data in cache (default: cold)", hot_);
        options.one(
            "--for", text("ARCH", for_),
            "For an architecture that nobody measured, as sm_120: the winners of the nearest device in the results, and what speaks "
            "against them");
        declare_restriction(options, restriction_);
        table_.declare(
            options, {"cpp", "triton", "torch"},
            "json: schemas/winners.schema.json; cpp: a header that dispatches by op, mode, dtype, casting, rows and "
            "columns; triton: a Python module for Triton launchers; torch: a Python package with the kernels, in the folder of --out");
        options.one("--out", folder(out_), "torch: new folder for the package");
        options.flag("--any-device", "cpp, triton: also what won on a CPU or a replay device", any_device_);
        options.example(fmt::format("normtune best {} --format json", example_run));
        options.example("normtune best qwen3.json llama3.json --format cpp > best_launch.h");
        options.example("normtune best h100.json h200.json --for sm_120");
        options.example("normtune best peers_providers.json --providers --format markdown");
        options.example("normtune best qwen3.json --batch-invariant --format cpp > best_launch.h");
        options.example(fmt::format("normtune best {} --format torch --out norms", example_run));
        options.example("normtune best --from-db --device-name '*H100*' --format triton > best_launch.py");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (any_device_ && !table_.is("cpp") && !table_.is("triton")) {
            throw InputError("--any-device goes with --format cpp or triton; tables and JSON are of any device");
        }
        if (!for_.empty() && restriction_.any()) {
            throw InputError("--for proposes winners of another device; leave it out, or --batch-invariant and --deterministic");
        }
        if (table_.is("torch") == out_.empty()) {
            throw InputError("--format torch and --out DIR, a new folder for the package, go together");
        }
        if (table_.is("torch") && !for_.empty()) {
            throw InputError(
                "--for proposes launches, and machine code of one architecture does not run on another; leave --format torch out");
        }
        const bool has_tables = !table_.is("cpp") && !table_.is("triton") && !table_.is("torch");
        if (providers_ && (from_db_ || !for_.empty() || restriction_.any() || !has_tables)) {
            throw InputError(
                "--providers is a table of what sweeps measured; leave out --from-db, --for, --batch-invariant, --deterministic and the "
                "formats cpp, triton and torch");
        }
        std::vector<Results> all = from_db_ ? read_store() : read_files();
        keep_chosen(all);
        if (providers_) {
            table_.show(side_by_side_sections(side_by_side(all)));
            return ExitCode::good;
        }
        if (!for_.empty()) {
            return print_proposal(std::move(all));
        }
        if (restriction_.any()) {
            const bool code = table_.is("cpp") || table_.is("triton") || table_.is("torch");
            const RestrictedResults admitted = restricted(std::move(all), restriction_, code ? Whose::own : Whose::all);
            show(admitted.results, admitted.ladders);
            return report_missing(admitted.ladders);
        }
        show(all, {});
        return ExitCode::good;
    }

private:
    void keep_chosen(std::vector<Results>& all) const {
        if (problems_.empty()) {
            return;
        }
        const auto left_out = [&](const std::string& key) {
            return std::ranges::none_of(problems_, [&](const std::string& pattern) { return matches_pattern(pattern, key); });
        };
        for (const std::string& pattern : problems_) {
            const auto matches = [&](const Record& record) { return matches_pattern(pattern, record.problem.key()); };
            if (std::ranges::none_of(all, [&](const Results& results) { return std::ranges::any_of(results.records, matches); })) {
                throw InputError(fmt::format("--problem {}: no problem of the results has such a key", quoted_for_message(pattern)));
            }
        }
        for (Results& results : all) {
            std::erase_if(results.records, [&](const Record& record) { return left_out(record.problem.key()); });
            std::erase_if(results.plans, [&](const PlanSummary& plan) { return left_out(plan.problem_key); });
        }
    }

    ExitCode print_proposal(std::vector<Results> all) {
        const std::vector<std::string> planned = known_architectures();
        const bool known = std::find(planned.begin(), planned.end(), for_) != planned.end();
        const Proposal proposal =
            propose(by_device(std::move(all)), for_, known ? std::optional(describe_architecture(for_)) : std::nullopt);
        if (table_.is("json")) {
            table_.require_no_order();
            print_data(winners_json(proposal.runs, &proposal));
        } else if (table_.is("cpp") || table_.is("triton")) {
            table_.require_no_order();
            ExportedWinners exported = exported_winners(proposal.runs, any_device_);
            exported.remarks = proposal.text();
            print_data(table_.is("cpp") ? winners_cpp(exported) : winners_triton(exported));
        } else {
            std::vector<Section> out{{fmt::format("For {}", for_), Table(), ""}};
            for (const std::string& paragraph : proposal.text()) {
                out.front().note += paragraph + "\n";
                if (table_.is("csv")) {  // has tables alone
                    complain(paragraph);
                }
            }
            for (const Results& run : proposal.runs) {
                std::vector<Section> winners = winners_sections(run);
                std::move(winners.begin(), winners.end(), std::back_inserter(out));
            }
            table_.show(std::move(out));
        }
        return ExitCode::good;
    }

    void show(const std::vector<Results>& all, std::span<const PricedLadder> prices) const {
        if (table_.is("json") || table_.is("cpp") || table_.is("triton")) {
            table_.require_no_order();
            if (table_.is("json")) {
                print_data(winners_json(all, nullptr, prices));
                return;
            }
            ExportedWinners exported = exported_winners(all, any_device_);
            exported.remarks = remarks(prices);
            print_data(table_.is("cpp") ? winners_cpp(exported) : winners_triton(exported));
        } else if (table_.is("torch")) {
            table_.require_no_order();
            print(write_torch_package(torch_package(all, remarks(prices)), out_));
        } else {
            std::vector<Section> shown = sections(all);
            if (restriction_.any()) {
                std::ranges::move(price_sections(prices, restriction_), std::back_inserter(shown));
            }
            table_.show(std::move(shown));
        }
    }

    std::vector<std::string> remarks(std::span<const PricedLadder> prices) const {
        return restriction_.any() ? restriction_text(prices, restriction_) : std::vector<std::string>{};
    }

    std::vector<Results> read_files() {
        if (!filter_.device.empty() || !filter_.arch.empty() || hot_) {
            throw InputError("--device-name, --arch and --hot say what is taken from the store; add --from-db");
        }
        if (files_.empty()) {
            throw InputError("no results are named; give results.json files or run folders, or --from-db");
        }
        std::vector<Results> all;
        for (const std::string& file : files_) {
            all.push_back(read_judged_results(file));
            require_each_trial_once(all.back().records, file);
        }
        headings_ = files_;
        return all;
    }

    std::vector<Results> read_store() {
        if (!files_.empty()) {
            throw InputError("--from-db reads the store of winners and no results; give one of them");
        }
        const std::string path = winner_store_path();
        if (path.empty()) {
            throw InputError("NORMTUNE_STORE is empty, or HOME is not set, so there is no store of winners");
        }
        std::optional<WinnerStore> store = WinnerStore::open(path);
        if (!store) {
            throw InputError(fmt::format("{}: there is no store of winners yet; normtune sweep fills it", path));
        }
        filter_.cold = !hot_;
        std::vector<Results> all;
        std::vector<DeviceWinners> devices = newest_winners(store->all(complain), filter_);
        std::map<std::string, int> parts;  // of each name
        for (const DeviceWinners& device : devices) {
            ++parts[device.results.environment.device.name];
        }
        for (DeviceWinners& device : devices) {
            const DeviceInfo& info = device.results.environment.device;
            headings_.push_back(
                fmt::format("{} ({}, {}{})", info.name, info.arch, backend_names.name(info.backend),
                            parts[info.name] > 1 ? ", " + counted(static_cast<std::uint64_t>(info.compute_units), "compute unit") : ""));
            older_ += device.older;
            all.push_back(std::move(device.results));
        }
        if (all.empty()) {
            throw InputError(fmt::format("{}: the store has no winner that was measured {} on such a device", path, hot_ ? "hot" : "cold"));
        }
        return all;
    }

    std::vector<Section> sections(const std::vector<Results>& all) const {
        std::vector<Section> out;
        for (std::size_t i = 0; i < all.size(); ++i) {
            std::vector<Section> run = winners_sections(all[i]);
            if (all.size() > 1 || from_db_) {
                run.front().title = headings_[i];
            }
            std::move(run.begin(), run.end(), std::back_inserter(out));
        }
        if (older_ > 0) {
            out.back().note += fmt::format(
                "Problems with older winners of another eps, driver, kernels, space or way of measuring in the store: {}.\n", older_);
        }
        return out;
    }

    std::vector<std::string> files_;
    std::vector<std::string> headings_;  // one each of what is read
    bool from_db_ = false;
    StoreFilter filter_;
    bool hot_ = false;
    std::string for_;
    std::vector<std::string> problems_;
    bool providers_ = false;
    std::size_t older_ = 0;
    Restriction restriction_;
    TableOptions table_;
    std::string out_;
    bool any_device_ = false;
};

}  // namespace

std::unique_ptr<Command> make_best_command() {
    return std::make_unique<BestCommand>();
}

}  // namespace normtune::cli
