#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/gate_output.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "report/gate_report.h"
#include "run/remeasure.h"
#include "support/clock.h"
#include "support/config_file.h"

namespace normtune::cli {
namespace {

class GateCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("--baseline", file(baseline_), "What was: a run folder or a results file, as for compare");
        options.one("--candidate", file(candidate_), "What is now");
        options.one("--policy", shipped_file("gates", policy_),
                    fmt::format("What counts; shipped: {} (default: default)", fmt::format("{}", fmt::join(shipped_names("gates"), ", "))));
        output_.declare(options);
        table_.declare(options);
        options.group("Confirmation");
        options.flag("--confirm", "Measure what is slower again, on this device, before it fails", confirm_);
        device_.declare(options);
        options.flag("--quiet", "No progress", quiet_);
        options.example(fmt::format("normtune gate --baseline main.json --candidate {}", example_run));
        options.example("normtune gate --baseline a --candidate b --policy heuristics --junit gate.xml --github");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (baseline_.empty() || candidate_.empty()) {
            throw InputError("a gate judges two results; give --baseline and --candidate");
        }
        device_.require_only_with("--confirm", confirm_);
        output_.require_apart(std::array{baseline_, candidate_});
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
            table_.require_order(gate_headings());
            confirm_suspects(verdict, policy, baseline, device_.wish(), progress_on_stderr(quiet_));
        }
        const std::string out = table_.text(gate_sections(verdict));
        output_.write(verdict);
        table_.is("table") ? print(out) : print_data(out);
        output_.annotate(verdict);
        return exit_code_of(verdict);
    }

private:
    std::string baseline_;
    std::string candidate_;
    std::string policy_ = "default";
    GateOutput output_;
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
