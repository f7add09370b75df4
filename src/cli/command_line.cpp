#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "report/table.h"
#include "support/utf8.h"
#include "support/version.h"

namespace normtune::cli {
namespace {

constexpr std::array<CommandEntry, 19> entries{{
    {"sweep", "Measure the configurations of a space on model shapes, and say which wins", make_sweep_command},
    {"plan", "Show what a sweep would run, and what each rule prunes", make_plan_command},
    {"verify", "Prove configurations correct, without timing them", make_verify_command},
    {"explain", "Say in words what a configuration does, and how it is launched", make_explain_command},
    {"best", "Print the winners of saved results", make_best_command},
    {"merge", "Put the results of shards, or of several sweeps, together", make_merge_command},
    {"audit", "Say what heuristics and prune rules lose against the measured best", make_audit_command},
    {"fit", "Fit a launcher's rule to results: the smallest ladder within a tolerance", make_fit_command},
    {"emit", "Write a configuration's CUDA source, launch geometry and binary", make_emit_command},
    {"compare", "Say what became faster or slower between two results", make_compare_command},
    {"report", "Draw results: a page with plots and tables, or one plot", make_report_command},
    {"gate", "Judge a comparison by a policy: pass, fail or inconclusive, for CI", make_gate_command},
    {"ab", "Measure two versions of kernels in the same rounds: which became slower", make_ab_command},
    {"history", "Keep results over time, and say what changed and with what", make_history_command},
    {"selfcheck", "Sweep the same twice and more: what can compare tell on this device", make_selfcheck_command},
    {"devices", "Say which devices are here, and why one is not", make_devices_command},
    {"shapes", "List, print and make model shapes", make_shapes_command},
    {"completion", "Print a completion script for bash, zsh or fish", make_completion_command},
    {"man", "Print a manual page", make_man_command},
}};

/// Help or the version: text that is known once the words are parsed.
class PrintCommand : public Command {
public:
    explicit PrintCommand(std::string text) : text_(std::move(text)) {}
    void declare(OptionSet&) override {}
    ExitCode run(const std::vector<std::string>&) override {
        print(text_);
        return ExitCode::good;
    }

private:
    std::string text_;
};

std::string overview() {
    std::string text =
        "normtune finds the fastest correct RMSNorm kernel configuration for a\nmodel's shapes on this machine.\n"
        "Usage: normtune COMMAND [OPTIONS]\n\nCommands:\n";
    constexpr std::size_t column = 14;
    for (const CommandEntry& entry : entries) {
        const std::vector<std::string> lines = wrapped(entry.summary, help_width - column);
        text += fmt::format("  {:<{}}{}\n", entry.name, column - 2, fmt::join(lines, "\n" + std::string(column, ' ')));
    }
    text +=
        "\nOptions:\n"
        "  -h, --help  Print this help; normtune COMMAND --help prints a command's\n"
        "  --version   Print the version and the revision of its sources\n\n"
        "Example:\n"
        "  normtune sweep --shapes qwen3 --tokens 1,2048 --space quick\n";
    return text;
}

const CommandEntry& find_command(const std::string& word) {
    const auto* const found = std::find_if(entries.begin(), entries.end(), [&](const CommandEntry& entry) { return entry.name == word; });
    if (found != entries.end()) {
        return *found;
    }
    std::vector<std::string_view> names;
    names.reserve(entries.size());
    for (const CommandEntry& entry : entries) {
        names.push_back(entry.name);
    }
    if (word.starts_with("-")) {
        names = {"--help", "--version"};
        throw InputError(
            fmt::format("unknown option '{}' before the command{}", word, suggestion(word, names.data(), names.data() + names.size())));
    }
    throw InputError(fmt::format("unknown command '{}'{}", word, suggestion(word, names.data(), names.data() + names.size())));
}

}  // namespace

std::span<const CommandEntry> commands() {
    return entries;
}

std::unique_ptr<OptionSet> options_of(const CommandEntry& entry, Command& command) {
    auto options = std::make_unique<OptionSet>(entry.name, fmt::format("{}.", entry.summary));
    command.declare(*options);
    return options;
}

std::unique_ptr<Command> parse_command_line(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (!is_utf8(word)) {  // files and JSON hold the words of a run as text
            throw InputError(fmt::format("{} is no UTF-8; words and paths have to be", quoted_for_message(word)));
        }
    }
    if (words.size() < 2) {
        throw InputError("a command is missing; see normtune --help");
    }
    const std::string& word = words[1];
    if (word == "--help" || word == "-h" || (word == "help" && words.size() == 2)) {
        return std::make_unique<PrintCommand>(overview());
    }
    if (word == "--version") {
        const std::string revision = source_revision().empty() ? "" : fmt::format(" (revision {})", source_revision());
        return std::make_unique<PrintCommand>(fmt::format("normtune {}{}\n", version(), revision));
    }
    const bool help = word == "help";
    const CommandEntry& entry = find_command(help ? words[2] : word);
    std::unique_ptr<Command> command = entry.make();
    const std::unique_ptr<OptionSet> options = options_of(entry, *command);
    if (help || options->parse(std::span(words).subspan(2)) == OptionSet::Parsed::help) {
        return std::make_unique<PrintCommand>(options->help());
    }
    return command;
}

}  // namespace normtune::cli
