#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "report/outcomes.h"

namespace normtune::cli {
namespace {

class VerifyCommand : public Command {
public:
    void declare(OptionSet& options) override {
        run_.declare(options);
        options.example("normtune verify --shapes deepseek_v3 --site kv_a --mode forward,backward --tokens 17");
    }

    ExitCode run(const std::vector<std::string>& words) override {
        SweepOptions options = run_.sweep_options(words);
        options.verify_only = true;
        const SweepResult result = run_with_progress(run_, options);
        const Style style = style_of(stdout);
        print(shard_text(options, result) + outcomes_table(result.results, style) + "\n" + outcomes_text(result.results, style) +
              files_text(options.out_folder));
        return exit_code_of(result);
    }

private:
    RunOptions run_;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() {
    return std::make_unique<VerifyCommand>();
}

}  // namespace normtune::cli
