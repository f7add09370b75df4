#include "cli/man_page.h"

#include <array>

#include <fmt/format.h>

#include "support/roff.h"
#include "support/version.h"

namespace normtune::cli {
namespace {

struct Entry {
    std::string_view tag;
    std::string_view text;
};

struct ExitStatus {
    ExitCode code;
    std::string_view text;
};

constexpr std::array<ExitStatus, 8> exit_statuses{{
    {ExitCode::good, "All is well."},
    {ExitCode::regression, "compare, gate, ab or history trend found a regression."},
    {ExitCode::usage, "The command line or a file is wrong, or the system refused something."},
    {ExitCode::inconclusive,
     "compare, gate or ab cannot tell; no ladder of fit is within the tolerance; nothing measured may be taken by best or fit."},
    {ExitCode::not_comparable, "The results are of different devices, or have nothing in common."},
    {ExitCode::faulty_trials,
     "sweep or verify finished; a configuration was incorrect or crashed, or none passed of a provider's that were tried. "
     "Of plan --compile: something does not compile."},
    {ExitCode::defect, "A fault of normtune itself."},
    {ExitCode::interrupted, "Interrupted; what was measured is saved."},
}};

constexpr auto environment = std::to_array<Entry>({
    {"NORMTUNE_STORE", "The store of winners, a file; set to nothing, there is none."},
    {"NORMTUNE_HISTORY", "The results over time, a file; set to nothing, there is none without --db."},
    {"NORMTUNE_CACHE_DIR", "The folder of compiled kernels."},
    {"NORMTUNE_PYTHON", "The interpreter of Python providers, or its virtual environment, where --python is not given."},
    {"NORMTUNE_CPU_ISA", "The instruction set of the CPU's kernels: baseline, avx2 or avx512; else the widest that is here."},
    {"NORMTUNE_CLANG", "The clang that compiles for AMD GPUs what HIPRTC does not know."},
    {"XDG_DATA_HOME", "Holds normtune/winners.sqlite3 and normtune/history.sqlite3 where their variables are not set."},
    {"XDG_CACHE_HOME", "Holds normtune/, the compiled kernels, where NORMTUNE_CACHE_DIR is not set."},
    {"CUDA_HOME, CUDA_PATH", "Where NVRTC is looked for first."},
    {"ROCM_PATH, HIP_PATH", "Where the HIP run time and HIPRTC are looked for first; below ROCM_PATH clang, too."},
    {"VIRTUAL_ENV", "A Python environment whose interpreter, and whose NVRTC or HIPRTC, is taken."},
    {"COLUMNS", "The width of tables that do not go to a terminal."},
    {"NO_COLOR", "Print without colours; so does TERM, where it is dumb."},
    {"GITHUB_STEP_SUMMARY", "The file that --github adds to."},
    {"HOME", "Holds .local/share and .cache, where the XDG variables are not set."},
});

std::string header(std::string_view name, std::string_view summary) {
    std::string title(name);
    for (char& c : title) {
        c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return fmt::format(".TH {} 1 \"\" \"normtune {}\" \"normtune\"\n.SH NAME\n{} \\- {}\n", roff_text(title), version(), roff_text(name),
                       roff_text(summary));
}

/// A tagged paragraph; the tag is bold, what follows it slanted.
std::string paragraph(std::string_view tag, std::string_view argument, std::string_view text) {
    return fmt::format(".TP\n\\fB{}\\fR{}{}\n{}\n", roff_text(tag), argument.empty() ? "" : " ",
                       argument.empty() ? "" : fmt::format("\\fI{}\\fR", roff_text(argument)), roff_text(text));
}

std::string examples(std::span<const std::string> lines) {
    std::string out = ".SH EXAMPLES\n.nf\n";
    for (const std::string& line : lines) {
        out += roff_text(line) + "\n";
    }
    return out + ".fi\n";
}

std::string option(const OptionSpec& spec) {
    const std::string tag = spec.short_name.empty() ? spec.name : fmt::format("{}, {}", spec.short_name, spec.name);
    return paragraph(tag, spec.positional() ? "" : spec.argument(), spec.help);
}

}  // namespace

std::string man_page_of_normtune() {
    std::string out = header("normtune", "find the fastest correct RMSNorm kernel configuration");
    out +=
        ".SH SYNOPSIS\n\\fBnormtune\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
        ".SH DESCRIPTION\n"
        "normtune plans, verifies, measures and ranks configurations of RMSNorm kernels for the shapes of a model on the machine that it\n"
        "runs on, and judges what became of them between two measurements.\n"
        "Each command has a page of its own.\n"
        ".SH COMMANDS\n";
    for (const CommandEntry& entry : commands()) {
        out += paragraph(fmt::format("normtune-{}(1)", entry.name), "", fmt::format("{}.", entry.summary));
    }
    out += ".SH OPTIONS\n" + paragraph("-h, --help", "", "Print the commands; behind a command, its options.");
    out += paragraph("--version", "", "Print the version and the revision of its sources.");
    out += ".SH EXIT STATUS\n";
    for (const ExitStatus& status : exit_statuses) {
        out += paragraph(fmt::format("{}", static_cast<int>(status.code)), "", status.text);
    }
    out += ".SH ENVIRONMENT\n";
    for (const Entry& variable : environment) {
        out += paragraph(variable.tag, "", variable.text);
    }
    return out;
}

std::string man_page(const CommandEntry& entry) {
    const std::unique_ptr<Command> command = entry.make();
    const std::unique_ptr<OptionSet> options = options_of(entry, *command);
    std::string out = header(fmt::format("normtune-{}", entry.name), entry.summary);
    out += fmt::format(".SH SYNOPSIS\n\\fBnormtune {}\\fR [\\fIOPTIONS\\fR]", roff_text(entry.name));
    for (const OptionSpec& spec : options->specs()) {
        if (spec.positional()) {
            out += fmt::format(" [\\fI{}{}\\fR]", roff_text(spec.name), spec.arity == Arity::many ? "..." : "");
        }
    }
    out += fmt::format("\n.SH DESCRIPTION\n{}.\n.SH OPTIONS\n", roff_text(entry.summary));
    std::string heading = "Options";
    for (const OptionSpec& spec : options->specs()) {
        if (spec.group != heading) {
            heading = spec.group;
            out += fmt::format(".SS {}\n", roff_text(heading));
        }
        out += option(spec);
    }
    if (!options->specs().empty()) {
        out += ".SS Help\n";
    }
    out += paragraph("-h, --help", "", "Print the options.");
    if (!options->examples().empty()) {
        out += examples(options->examples());
    }
    return out + ".SH SEE ALSO\n\\fBnormtune\\fR(1), which has the exit status and the environment\n";
}

}  // namespace normtune::cli
