// Completion scripts, made of the option sets, so that they know what the commands know.
#include <algorithm>
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

std::string command_words() {
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

/// Help may be of several lines.
std::string in_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string zsh_quoted(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
            out += fmt::format("\\{}", c);
        } else {
            out += c;
        }
    }
    return out;
}

/// The action of a zsh _arguments specification. One that begins with a blank is called as it stands: _alternative and _values know nothing
/// of the options that _arguments would put before their own words. Its colons are quoted: a bare one would end it.
std::string zsh_action(const OptionSpec& spec) {
    const Value& value = spec.value;
    const std::string files = value.completion == Completion::folders ? "_files -/" : "_files";
    if (value.choices.empty()) {
        return value.completion == Completion::none ? " " : files;
    }
    const std::string words = fmt::format("{}", fmt::join(value.choices, " "));
    if (value.completion != Completion::none) {
        return fmt::format(" _alternative \"names\\:shipped\\:({})\" \"files\\:file\\:{}\"", words, files);
    }
    return spec.arity == Arity::list ? fmt::format(" _sequence compadd - {}", words) : fmt::format("({})", words);
}

/// `number`: of the positional argument.
std::string zsh_argument(const OptionSpec& spec, int number) {
    if (spec.positional()) {
        return fmt::format("'{}:{}:{}'", spec.arity == Arity::many ? "*" : std::to_string(number), spec.name, zsh_action(spec));
    }
    const std::string help = zsh_quoted(in_one_line(spec.help));
    const std::string value = spec.arity == Arity::flag ? "" : fmt::format(":{}:{}", zsh_quoted(spec.value.placeholder), zsh_action(spec));
    const std::string_view again = spec.arity == Arity::list || spec.arity == Arity::many ? "*" : "";
    if (spec.short_name.empty()) {
        return fmt::format("'{}{}[{}]{}'", again, spec.name, help, value);
    }
    const std::string both = again.empty() ? fmt::format("({} {})", spec.short_name, spec.name) : "";
    return fmt::format("'{0}{1}{2}[{4}]{5}' '{0}{1}{3}[{4}]{5}'", both, again, spec.short_name, spec.name, help, value);
}

std::string fish_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
    }
    return out + "'";
}

/// What fish's `complete` is told of a value.
std::string fish_values(const OptionSpec& spec) {
    const Value& value = spec.value;
    if (value.completion == Completion::folders) {
        return " -a '(__fish_complete_directories)'";
    }
    const std::string words = fmt::format("{}", fmt::join(value.choices, " "));
    const std::string choices =
        words.empty() ? "" : fmt::format(" -a {}", fish_quoted(spec.arity == Arity::list ? "(__fish_append , " + words + ")" : words));
    return choices + (value.completion == Completion::files ? " -F" : "");
}

std::string fish_option(std::string_view command, const OptionSpec& spec) {
    const std::string begin = fmt::format("complete -c normtune -n '__normtune_is {}", command);
    if (spec.positional()) {
        return fmt::format("{}'{}\n", begin, fish_values(spec));
    }
    std::string out = fmt::format("{}' -l {}{} -d {}{}{}\n", begin, spec.name.substr(2),
                                  spec.short_name.empty() ? "" : " -s " + spec.short_name.substr(1), fish_quoted(in_one_line(spec.help)),
                                  spec.arity == Arity::flag                    ? ""
                                  : spec.value.completion == Completion::files ? " -r"
                                                                               : " -x",
                                  fish_values(spec));
    if (spec.arity == Arity::many) {  // its further values
        out += fmt::format("{}; and __normtune_values_of {}'{}\n", begin, spec.name, fish_values(spec));
    }
    return out;
}

std::string bash_completion() {
    std::string options_code;
    std::string values_code;
    for_each_command([&](const CommandEntry& entry, const OptionSet& options) {
        options_code += fmt::format("        {}) names='{}' ;;\n", entry.name, bash_option_names(options));
        std::string positional;  // of a command all have one pattern
        std::string pattern;
        for (const OptionSpec& spec : options.specs()) {
            const std::string values = bash_values(spec);
            if (!values.empty() && spec.positional()) {
                pattern = bash_pattern(entry.name, spec);
                positional += positional.find(values) != std::string::npos ? "" : positional.empty() ? values : "; " + values;
            } else if (!values.empty()) {
                values_code += fmt::format("        {}) {} ;;\n", bash_pattern(entry.name, spec), values);
            }
        }
        values_code += positional.empty() ? "" : fmt::format("        {}) {} ;;\n", pattern, positional);
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
                       fmt::arg("commands", command_words()), fmt::arg("options", options_code), fmt::arg("values", values_code));
}

std::string zsh_completion() {
    std::string list;
    std::string cases;
    for_each_command([&](const CommandEntry& entry, const OptionSet& options) {
        list += fmt::format("        '{}:{}'\n", entry.name, zsh_quoted(entry.summary));
        cases += fmt::format("        {})\n            _arguments", entry.name);
        int positional = 0;
        std::string further;  // the values of options that take several
        for (const OptionSpec& spec : options.specs()) {
            positional += spec.positional() ? 1 : 0;
            cases += fmt::format(" \\\n                {}", zsh_argument(spec, positional));
            if (!spec.positional() && spec.arity == Arity::many && zsh_action(spec) != " ") {
                further += fmt::format("{}) {} ;; ", spec.name, zsh_action(spec));
            }
        }
        if (positional == 0 && !further.empty()) {
            cases += fmt::format(" \\\n                '*:further:{{ _normtune_after && case $REPLY in {}esac }}'", further);
        }
        cases += " \\\n                '--help[Print this help]'\n            ;;\n";
    });
    return fmt::format(R"zsh(#compdef normtune
# zsh completion of normtune, printed by: normtune completion zsh
_normtune_after() {{ # REPLY: the option before the cursor, if any
    REPLY=${{words[1,CURRENT-1][(R)-*]}}
    [[ -n $REPLY ]]
}}
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

std::string fish_completion() {
    std::string out = R"fish(# fish completion of normtune, printed by: normtune completion fish
function __normtune_is # COMMAND: is it the one on the line?
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"
end
function __normtune_values_of # OPTION: is it the last one on the line?
    set -l options (string match -- '-*' (commandline -opc))
    test (count $options) -ge 1; and test "$options[-1]" = "$argv[1]"
end
complete -c normtune -f
)fish";
    const std::string_view no_command = "complete -c normtune -n 'test (count (commandline -opc)) -eq 1'";
    for_each_command([&](const CommandEntry& entry, const OptionSet& options) {
        const std::string summary = fish_quoted(entry.summary);
        out += fmt::format("{} -a {} -d {}\n", no_command, entry.name, summary);
        out += fmt::format("complete -c normtune -n '__normtune_is help' -a {} -d {}\n", entry.name, summary);
        out += fmt::format("complete -c normtune -n '__normtune_is {}' -l help -d 'Print this help'\n", entry.name);
        for (const OptionSpec& spec : options.specs()) {
            out += fish_option(entry.name, spec);
        }
    });
    return out + fmt::format("{0} -a help -d 'Print the help of a command'\n{0} -l help -l version\n", no_command);
}

class CompletionCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("SHELL", word_of({"bash", "zsh", "fish"}, shell_), "bash, zsh or fish");
        options.example("source <(normtune completion bash)");
        options.example("normtune completion zsh > \"${fpath[1]}/_normtune\"");
        options.example("normtune completion fish > ~/.config/fish/completions/normtune.fish");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (shell_.empty()) {
            throw InputError("which shell? give bash, zsh or fish");
        }
        print_data(shell_ == "bash" ? bash_completion() : shell_ == "zsh" ? zsh_completion() : fish_completion());
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
