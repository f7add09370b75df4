#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/output.h"

namespace normtune::cli {
namespace {

class CompletionCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("SHELL", word_of({"bash", "zsh"}, shell_), "bash or zsh");
        options.example("source <(normtune completion bash)");
        options.example("normtune completion zsh > \"${fpath[1]}/_normtune\"");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (shell_.empty()) {
            throw InputError("which shell? give bash or zsh");
        }
        print_data(shell_ == "bash" ? bash_completion() : zsh_completion());
        return ExitCode::good;
    }

private:
    std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() {
    return std::make_unique<CompletionCommand>();
}

}  // namespace normtune::cli
