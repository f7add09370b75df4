#include "cli/gate_output.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/result_options.h"
#include "report/gate_report.h"
#include "support/atomic_file.h"
#include "support/descriptor.h"

namespace normtune::cli {
namespace {

/// Ahead of what takes long: a report that its folder has no place for.
void require_writable(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (path.empty() || access(path.c_str(), W_OK) == 0 || access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) {
        return;
    }
    throw InputError(fmt::format("{}: cannot be written: {}", path, system_reason(errno)));
}

/// GitHub's runner names a file that each step adds to; elsewhere there is none.
void add_to_step_summary(const std::string& text) {
    const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
    if (path == nullptr || *path == '\0') {
        return;
    }
    std::ofstream summary(path, std::ios::app | std::ios::binary);
    summary << text << std::flush;
    if (!summary) {
        throw SystemError(fmt::format("{}: cannot be written: {}", path, system_reason(errno)));
    }
}

}  // namespace

void GateOutput::declare(OptionSet& options) {
    options.group("Reports");
    options.one("--junit", file(junit_), "Write JUnit XML: a test case a pair");
    options.one("--markdown", file(markdown_), "Write markdown: for a pull request");
    options.flag("--github", "Print annotations, and add to the step summary ($GITHUB_STEP_SUMMARY)", github_);
}

void GateOutput::require_apart(std::span<const std::string> inputs) const {
    require_not_a_result(junit_, inputs, "JUnit XML");
    require_not_a_result(markdown_, inputs, "markdown");
    for (const auto& [option, path] : {std::pair("--junit", junit_), std::pair("--markdown", markdown_)}) {
        if (path == "-") {
            throw InputError(fmt::format("{}: standard output has the result already; give a file", option));
        }
        require_writable(path);
    }
    if (!junit_.empty() && std::filesystem::path(junit_).lexically_normal() == std::filesystem::path(markdown_).lexically_normal()) {
        throw InputError(fmt::format("--junit and --markdown are one file, {}; give two", junit_));
    }
}

void GateOutput::write(const GateVerdict& verdict) const {
    if (!junit_.empty()) {
        write_file_atomically(junit_, gate_junit(verdict));
    }
    if (!markdown_.empty()) {
        write_file_atomically(markdown_, gate_markdown(verdict));
    }
    if (github_) {
        add_to_step_summary(gate_markdown(verdict));
    }
}

void GateOutput::annotate(const GateVerdict& verdict) const {
    if (github_) {
        print_data(gate_annotations(verdict));
    }
}

ExitCode exit_code_of(const GateVerdict& verdict) {
    return verdict.result == GateResult::pass   ? ExitCode::good
           : verdict.result == GateResult::fail ? ExitCode::regression
                                                : ExitCode::inconclusive;
}

}  // namespace normtune::cli
