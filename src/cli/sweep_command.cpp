#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/restriction_options.h"
#include "cli/run_report.h"
#include "cli/table_options.h"
#include "report/outcomes.h"
#include "report/side_by_side_report.h"
#include "report/winners.h"
#include "store/winner_store.h"

namespace normtune::cli {
namespace {

class SweepCommand : public Command {
public:
    void declare(OptionSet& options) override {
        run_.declare(options);
        run_.declare_timing(options);
        table_.declare(options, {}, "How the winners are printed at the end; json: schemas/winners.schema.json");
        options.example("normtune sweep --shapes qwen3 --model Qwen3-8B --tokens 1,2048 --space quick");
        options.example("normtune sweep --shapes my_model.yaml --mode forward,backward --budget 10m --out tuned");
        options.example("normtune sweep --resume tuned");
        options.example("normtune sweep --shapes qwen3 --tokens 8192 --fresh");
        options.example("normtune sweep --shapes qwen3 --tokens 1 --repeat 5");
        options.example("normtune sweep --shapes qwen3 --tokens 1,64,2048 --batch-invariant");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        SweepOptions options = run_.sweep_options(words);
        table_.require_order(headings(options));
        options.verify_only = false;
        // What a script plays is nobody's finding: it goes into a store that was named for it, never into the user's own.
        const bool store_is_named = std::getenv("NORMTUNE_STORE") != nullptr;
        options.store = options.backend == Backend::replay && !store_is_named ? "" : winner_store_path();
        options.fresh = run_.fresh() || options.processes > 1;  // what the store has is of one process
        if (options.store.empty() && !store_is_named && options.backend != Backend::replay) {
            complain("HOME is not set: winners and compiled code are not kept; NORMTUNE_STORE and NORMTUNE_CACHE_DIR name places for them");
        }
        const SweepResult result = run_with_progress(run_, options);
        // What is not deterministic was not measured: the price is that of invariance alone.
        const Restriction restriction{options.batch_invariant, options.deterministic};
        std::optional<RestrictedResults> admitted;
        if (options.batch_invariant) {
            admitted = restricted({result.results}, restriction, Whose::all);
        }
        const Results& shown = admitted ? admitted->results.front() : result.results;
        const std::span<const PricedLadder> prices = admitted ? admitted->ladders : std::span<const PricedLadder>();
        if (table_.is("json")) {
            print_data(winners_json({&shown, 1}, nullptr, prices));
        } else {
            std::vector<Section> sections = winners_sections(shown, admitted ? std::span<const Record>() : result.under_way);
            if (admitted) {
                std::ranges::move(price_sections(prices, restriction), std::back_inserter(sections));
            }
            if (options.compares_bits()) {
                sections.push_back(bits_section(result.results));
            }
            const std::vector<SideBySide> providers = side_by_side({&shown, 1});
            if (std::ranges::any_of(providers, [](const SideBySide& problem) { return problem.best.size() > 1; })) {
                std::ranges::move(side_by_side_sections(providers), std::back_inserter(sections));
            }
            table_.show_measured(run_sections(options, result, std::move(sections)));
        }
        return exit_code_of(result);
    }

private:
    /// All that its tables may have.
    static std::vector<std::string> headings(const SweepOptions& options) {
        std::vector<std::string> providers;
        for (const CandidateChoice::Source& source : options.candidates.sources()) {
            providers.push_back(source.provider);
        }
        std::vector<std::string> out = winners_headings();
        if (!providers.empty()) {
            std::ranges::move(side_by_side_headings(providers, launches_dependent(options.space)), std::back_inserter(out));
        }
        if (options.compares_bits()) {
            std::ranges::move(reproducible_headings(), std::back_inserter(out));
        }
        return out;
    }

    static bool launches_dependent(const SearchSpace& space) {
        return std::ranges::any_of(space.axes, [](const AxisValues& axis) {
            return axis.axis == Axis::dependent_launch &&
                   std::ranges::find(axis.values, static_cast<int>(DependentLaunch::on)) != axis.values.end();
        });
    }

    RunOptions run_;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() {
    return std::make_unique<SweepCommand>();
}

}  // namespace normtune::cli
