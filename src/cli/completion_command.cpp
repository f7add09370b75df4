// Completion scripts, made of the option sets, so that they know what the commands know.
#include <functional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"

namespace normtune::cli {
namespace {

void for_each_command(const std::function<void(const CommandEntry&, const OptionSet&)>& visit) {
    for (const CommandEntry& entry : commands()) {
        const std::unique_ptr<Command> command = entry.make();
        visit(entry, *options_of(entry, *command));
    }
}

std::string command_names() {
    std::string names;
    for (const CommandEntry& entry : commands()) {
        names += fmt::format("{} ", entry.name);
    }
    return names + "help";
}

std::string bash_option_names(const OptionSet& options) {
    std::string names = "--help";
    for (const OptionSpec& spec : options.specs()) {
        names += spec.positional() ? "" : " " + spec.name;
    }
    return names;
}

std::string bash_pattern(std::string_view command, const OptionSpec& spec) {
    if (spec.positional()) {
        return fmt::format("'{} '", command);
    }
    return spec.short_name.empty() ? fmt::format("'{} {}'", command, spec.name)
                                   : fmt::format("'{} {}' | '{} {}'", command, spec.name, command, spec.short_name);
}

/// The shell code that offers an option's values; empty where there is nothing to offer.
std::string bash_values(const OptionSpec& spec) {
    const Value& value = spec.value;
    std::string code;
    if (!value.choices.empty()) {
        code = fmt::format("_normtune_words{} '{}'", spec.arity == Arity::list ? "_list" : "", fmt::join(value.choices, " "));
    }
    if (value.completion != Completion::none) {
        code += code.empty() ? "" : "; ";
        code += value.completion == Completion::files ? "_normtune_files -f" : "_normtune_files -d";
    }
    return code;
}

std::string zsh_quoted(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else if (c == '[' || c == ']' || c == ':') {
            out += fmt::format("\\{}", c);
        } else {
            out += c;
        }
    }
    return out;
}

/// The action of a zsh _arguments specification.
std::string zsh_action(const OptionSpec& spec) {
    const Value& value = spec.value;
    const std::string files = value.completion == Completion::folders ? "_files -/" : "_files";
    if (value.choices.empty()) {
        return value.completion == Completion::none ? "" : files;
    }
    const std::string words = fmt::format("{}", fmt::join(value.choices, " "));
    if (value.completion != Completion::none) {
        return fmt::format("_alternative \"names:shipped:({})\" \"files:file:{}\"", words, files);
    }
    return spec.arity == Arity::list ? fmt::format("_values -s , word {}", words) : fmt::format("({})", words);
}

std::string zsh_argument(const OptionSpec& spec) {
    if (spec.positional()) {
        return fmt::format("'{}:{}:{}'", spec.arity == Arity::many ? "*" : "1", spec.name, zsh_action(spec));
    }
    const std::string help = zsh_quoted(spec.help);
    if (spec.arity == Arity::flag) {
        return fmt::format("'{}[{}]'", spec.name, help);
    }
    return fmt::format("'{}{}[{}]:{}:{}'", spec.arity == Arity::one ? "" : "*", spec.name, help, zsh_quoted(spec.value.placeholder),
                       zsh_action(spec));
}

std::string bash_completion() {
    std::string options_code;
    std::string values_code;
    for_each_command([&](const CommandEntry& entry, const OptionSet& options) {
        options_code += fmt::format("        {}) names='{}' ;;\n", entry.name, bash_option_names(options));
        for (const OptionSpec& spec : options.specs()) {
            const std::string values = bash_values(spec);
            if (!values.empty()) {
                values_code += fmt::format("        {}) {} ;;\n", bash_pattern(entry.name, spec), values);
            }
        }
    });
    return fmt::format(R"bash(# bash completion of normtune, printed by: normtune completion bash
_normtune_words() {{
    COMPREPLY+=($(compgen -W "$1" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
_normtune_words_list() {{
    local word=${{COMP_WORDS[COMP_CWORD]}}
    local last=${{word##*,}}
    COMPREPLY+=($(compgen -P "${{word%"$last"}}" -W "$1" -- "$last"))
}}
_normtune_files() {{
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen "$1" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
_normtune() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} option= names= i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _normtune_words '{commands} --help --version'
        return
    fi
    case $command in
        help) names='{commands}' ;;
{options}    esac
    if [[ $word == -* || $command == help ]]; then
        _normtune_words "$names"
        return
    fi
    for ((i = COMP_CWORD - 1; i > 1; --i)); do
        if [[ ${{COMP_WORDS[i]}} == -* ]]; then
            option=${{COMP_WORDS[i]}}
            break
        fi
    done
    case "$command $option" in
{values}    esac
}}
complete -F _normtune normtune
)bash",
                       fmt::arg("commands", command_names()), fmt::arg("options", options_code), fmt::arg("values", values_code));
}

std::string zsh_completion() {
    std::string list;
    std::string cases;
    for_each_command([&](const CommandEntry& entry, const OptionSet& options) {
        list += fmt::format("        '{}:{}'\n", entry.name, zsh_quoted(entry.summary));
        cases += fmt::format("        {})\n            _arguments", entry.name);
        for (const OptionSpec& spec : options.specs()) {
            cases += fmt::format(" \\\n                {}", zsh_argument(spec));
        }
        cases += " \\\n                '--help[Print this help]'\n            ;;\n";
    });
    return fmt::format(R"zsh(#compdef normtune
# zsh completion of normtune, printed by: normtune completion zsh
_normtune() {{
    local -a commands
    commands=(
{list}        'help:Print the help of a command'
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
        help)
            _describe command commands
            ;;
{cases}    esac
}}
if [[ $funcstack[1] == _normtune ]]; then
    _normtune "$@"
else
    compdef _normtune normtune
fi
)zsh",
                       fmt::arg("list", list), fmt::arg("cases", cases));
}

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
