#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "report/gate_report.h"
#include "run/remeasure.h"
#include "support/atomic_file.h"
#include "support/clock.h"
#include "support/config_file.h"
#include "support/descriptor.h"

namespace normtune::cli {
namespace {

class GateCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("--baseline", file(baseline_), "What was: a run folder or a results file, as for compare");
        options.one("--candidate", file(candidate_), "What is now");
        options.one(
            "--policy", shipped_file("gates", policy_),
            fmt::format("What counts; shipped: {}\n(default: default)", fmt::format("{}", fmt::join(shipped_names("gates"), ", "))));
        options.group("Reports");
        options.one("--junit", file(junit_), "Write JUnit XML: a test case a pair");
        options.one("--markdown", file(markdown_), "Write markdown: for a pull request");
        options.flag("--github", "Print annotations, and add to the step summary ($GITHUB_STEP_SUMMARY)", github_);
        table_.declare(options);
        options.group("Confirmation");
        options.flag("--confirm", "Measure what is slower again, on this device, before it fails", confirm_);
        device_.declare(options);
        options.flag("--quiet", "No progress", quiet_);
        options.example("normtune gate --baseline main.json --candidate results/run-20261120T235959Z-1f3a");
        options.example("normtune gate --baseline a --candidate b --policy heuristics --junit gate.xml --github");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (baseline_.empty() || candidate_.empty()) {
            throw InputError("a gate judges two results; give --baseline and --candidate");
        }
        device_.require_only_with("--confirm", confirm_);
        const ConfigFile policy_file = load_config("gates", policy_);
        const Policy policy = parse_policy(policy_file.text, policy_file.file);
        const auto [baseline, candidate] = read_both_sides(baseline_, candidate_);
        const std::array<const ResultRows*, 2> sides{&baseline, &candidate};
        require_known_words(policy, policy_file.file, sides);
        std::vector<Comparison> comparisons;
        for (const Metric metric : policy.metrics) {
            comparisons.push_back(compare(baseline, candidate, policy.settings(metric)));
        }
        if (std::all_of(comparisons.begin(), comparisons.end(),
                        [](const Comparison& comparison) { return !comparison.not_comparable.empty(); })) {
            complain(comparisons.front().not_comparable);
            return ExitCode::not_comparable;
        }
        constexpr std::size_t day_length = 10;  // "2026-11-20"
        GateVerdict verdict = judge_gate(policy, comparisons, utc_timestamp().substr(0, day_length));
        if (confirm_) {
            confirm_suspects(verdict, policy, baseline, device_.wish(), progress_on_stderr(quiet_));
        }
        report(verdict);
        return verdict.result == GateResult::pass   ? ExitCode::good
               : verdict.result == GateResult::fail ? ExitCode::regression
                                                    : ExitCode::inconclusive;
    }

private:
    void report(const GateVerdict& verdict) const {
        if (!junit_.empty()) {
            write_file_atomically(junit_, gate_junit(verdict));
        }
        if (!markdown_.empty()) {
            write_file_atomically(markdown_, gate_markdown(verdict));
        }
        const std::string out = table_.text(gate_sections(verdict));
        if (github_) {
            add_to_step_summary(gate_markdown(verdict));
        }
        table_.is("table") ? print(out) : print_data(out);
        if (github_) {
            print_data(gate_annotations(verdict));
        }
    }

    /// GitHub's runner names a file that each step adds to; elsewhere there is none.
    static void add_to_step_summary(const std::string& text) {
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

    std::string baseline_;
    std::string candidate_;
    std::string policy_ = "default";
    std::string junit_;
    std::string markdown_;
    bool github_ = false;
    bool confirm_ = false;
    DeviceOptions device_;
    bool quiet_ = false;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_gate_command() {
    return std::make_unique<GateCommand>();
}

}  // namespace normtune::cli
