#include <algorithm>
#include <iterator>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "cli/table_options.h"
#include "report/outcomes.h"
#include "report/reproducible_report.h"

namespace normtune::cli {
namespace {

class VerifyCommand : public Command {
public:
    void declare(OptionSet& options) override {
        run_.declare(options);
        table_.declare(options);
        options.example("normtune verify --shapes qwen3 --tokens 1,2048 --space quick --batch-invariant");
        options.example("normtune verify --shapes deepseek_v3 --site kv_a --mode forward,backward --tokens 17");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        SweepOptions options = run_.sweep_options(words);
        std::vector<std::string> headings = headings_of({outcome_columns});
        if (options.compares_bits()) {
            std::ranges::move(reproducible_headings(), std::back_inserter(headings));
        }
        table_.require_order(headings);
        options.verify_only = true;
        const SweepResult result = run_with_progress(run_, options);
        std::vector<Section> sections{outcomes_section(result.results)};
        if (options.compares_bits()) {
            sections.push_back(bits_section(result.results));
        }
        table_.show_measured(run_sections(options, result, std::move(sections)));
        return exit_code_of(result);
    }

private:
    RunOptions run_;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() {
    return std::make_unique<VerifyCommand>();
}

}  // namespace normtune::cli
