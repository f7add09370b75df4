#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "judge/audit.h"
#include "judge/transfer.h"
#include "report/audit_report.h"
#include "report/axis_report.h"
#include "report/transfer_report.h"
#include "run/remeasure.h"
#include "support/plural.h"

namespace normtune::cli {
namespace {

constexpr double most_percent = 1000;
constexpr double usual_tolerance = 2;

class AuditCommand : public Command {
public:
    void declare(OptionSet& options) override {
        files_.declare(options);
        options.group("What is judged");
        options.one("--space", shipped_file("spaces", space_),
                    "Prune rules of this space file (default: TransformerEngine's, and those of the default space)");
        options.many("--heuristic", heuristic(heuristics_),
                     "A rule of thumb of your own, in the words of a space's rules; may be repeated");
        options.one("--axis", text("NAME", axis_), "Instead: what each value of an axis, or of a candidate's tunable, costs");
        options.group("Another device");
        options.flag("--transfer", "Instead, of the results of two devices, or of two runs: what the winners of each lose on the other",
                     transfer_);
        options.one("--tolerance", percent(0, most_percent, tolerance_),
                    "With --transfer: what loses more needs measuring there (default: 2%)");
        options.group("Measuring");
        options.flag("--measure", "Measure again, on this device, what a race dropped after few rounds and a loss rests on", measure_);
        device_.declare(options);
        options.flag("--quiet", "No progress", quiet_);
        table_.declare(options, {},
                       "json: schemas/audit.schema.json, of --axis schemas/axis.schema.json, of --transfer schemas/transfer.schema.json");
        options.example(fmt::format("normtune audit {}", example_run));
        options.example("normtune audit results.json --heuristic 'two_rows=rows_per_program == (cols <= 512 ? 2 : 1)'");
        options.example("normtune audit results.json --axis block_size");
        options.example("normtune audit --transfer h100.json h200.json");
        options.example(fmt::format("normtune audit {} --measure", example_run));
        options.example("normtune audit results.json --space my_space.yaml --format markdown");
    }

    ExitCode run(const std::vector<std::string>&) override {
        device_.require_only_with("--measure", measure_);
        if (table_.is("json")) {
            table_.require_no_order();
        }
        if (tolerance_ && !transfer_) {
            throw InputError("--tolerance goes with --transfer");
        }
        if (transfer_) {
            return run_transfer();
        }
        if (!axis_.empty() && (measure_ || !space_.empty() || heuristics_.size() > named_thumb_rules().size())) {
            throw InputError("--axis says what its values cost, as measured; leave out --measure, --space and --heuristic");
        }
        const std::vector<Rule> rules = space_.empty() ? default_audit_rules() : load_space(space_).rules;
        const std::vector<std::vector<Results>> devices = by_device(files_.read());
        for (const std::vector<Results>& runs : devices) {
            if (const std::string flaw = cold_beside_hot(runs); !flaw.empty()) {
                throw InputError(flaw + "; audit one kind at a time");
            }
        }
        if (!axis_.empty()) {
            return run_axis(devices);
        }
        if (files_.any_csv()) {
            complain("a CSV does not say what rules pruned in its sweep: a rule that was in force there takes nothing of what is left");
        }
        std::vector<Audit> audits;
        audits.reserve(devices.size());
        for (const std::vector<Results>& runs : devices) {
            std::size_t trials = 0;
            for (const Results& run : runs) {
                trials += run.records.size();
            }
            const Notice notice(fmt::format("judging {} by {}", counted(trials, "trial"), counted(rules.size(), "rule")));
            audits.push_back(audit(runs, heuristics_, rules));
            tell_repeats(audits.back().repeats);
            if (measure_) {
                if (!table_.is("json")) {
                    (void)table_.text(audit_sections(audits));  // a wrong --sort is told ahead
                }
                judge_measuring(runs, device_.wish(), {"normtune", "audit", "--measure"}, progress_on_stderr(quiet_),
                                [&](std::span<const Results> fresh) {
                                    audits.back() = audit(runs, heuristics_, rules, fresh);
                                    return wanted_again(audits.back());
                                });
            }
        }
        if (table_.is("json")) {
            TextSink out(print_data);
            write_audit_json(out, audits);
            out.flush();
        } else {
            table_.show(audit_sections(audits));
        }
        return ExitCode::good;
    }

private:
    static void tell_repeats(std::size_t repeats) {
        if (repeats > 0) {
            complain(
                fmt::format("{} problem{} the same times in two of the results (a copy, or times from the store of winners): each counts "
                            "once",
                            repeats, repeats == 1 ? " has" : "s have"));
        }
    }

    ExitCode run_transfer() const {
        if (measure_ || !axis_.empty() || !space_.empty() || heuristics_.size() > named_thumb_rules().size()) {
            throw InputError("--transfer judges winners alone; leave out --measure, --axis, --space and --heuristic");
        }
        std::vector<Results> runs = files_.read();
        for (const Results& run : runs) {
            require_one_device(run);
        }
        std::vector<std::vector<Results>> sides;
        if (runs.size() == 2) {  // of one device as well
            sides.resize(2);
            sides[0].push_back(std::move(runs[0]));
            sides[1].push_back(std::move(runs[1]));
        } else {
            sides = by_device(std::move(runs));
        }
        if (sides.size() != 2) {
            throw InputError(fmt::format("--transfer takes two results, or several of two devices; {}",
                                         sides.size() == 1 ? "these are of one" : fmt::format("these are of {}", sides.size())));
        }
        const std::vector<ProblemRanking> first = problem_rankings(sides[0], Whose::all);
        const std::vector<ProblemRanking> second = problem_rankings(sides[1], Whose::all);
        const double tolerance = tolerance_.value_or(usual_tolerance) / 100;
        std::vector<Transfer> transfers{transfer(first, second, tolerance), transfer(second, first, tolerance)};
        if (transfers[0].from.name == transfers[0].to.name) {
            transfers[0].from_name = transfers[1].to_name = files_.names()[0];
            transfers[0].to_name = transfers[1].from_name = files_.names()[1];
        }
        table_.is("json") ? print_data(transfer_json(transfers)) : table_.show(transfer_sections(transfers));
        return ExitCode::good;
    }

    ExitCode run_axis(const std::vector<std::vector<Results>>& devices) const {
        std::vector<AxisEffect> effects;
        for (const std::vector<Results>& runs : devices) {
            effects.push_back(axis_effect(runs, axis_));
            tell_repeats(effects.back().repeats);
        }
        table_.is("json") ? print_data(axis_json(effects)) : table_.show(axis_sections(effects));
        return ExitCode::good;
    }

    RecordFiles files_;
    std::string axis_;
    bool transfer_ = false;
    std::optional<double> tolerance_;
    bool measure_ = false;
    DeviceOptions device_;
    bool quiet_ = false;
    std::string space_;
    std::vector<ThumbRule> heuristics_ = named_thumb_rules();
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_audit_command() {
    return std::make_unique<AuditCommand>();
}

}  // namespace normtune::cli
