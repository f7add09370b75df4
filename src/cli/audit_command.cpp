#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/result_options.h"
#include "judge/audit.h"
#include "report/audit_report.h"
#include "report/axis_report.h"
#include "run/remeasure.h"

namespace normtune::cli {
namespace {

class AuditCommand : public Command {
public:
    void declare(OptionSet& options) override {
        files_.declare(options);
        options.group("What is judged");
        options.one("--space", shipped_file("spaces", space_),
                    "Prune rules of this space file (default: TransformerEngine's,\nand those of the default space)");
        options.many("--heuristic", heuristic(heuristics_),
                     "A rule of thumb of your own, in the words of a space's rules;\nmay be repeated");
        options.one("--axis", text("NAME", axis_), "Instead: what each value of an axis, or of a candidate's tunable, costs");
        options.group("Measuring");
        options.flag("--measure", "Measure again, on this device, what a race dropped after few\nrounds and a loss rests on", measure_);
        device_.declare(options);
        options.flag("--quiet", "No progress", quiet_);
        options.group("Output");
        options.one("--format", word_of({"table", "markdown", "json"}, format_),
                    "json: schemas/audit.schema.json,\nof --axis schemas/axis.schema.json (default: table)");
        options.example("normtune audit results/run-20261120-120000");
        options.example("normtune audit results.json --heuristic 'two_rows=rows_per_program == (cols <= 512 ? 2 : 1)'");
        options.example("normtune audit results.json --axis block_size");
        options.example("normtune audit results/run-20261120-120000 --measure");
        options.example("normtune audit results.json --space my_space.yaml --format markdown");
    }

    ExitCode run(const std::vector<std::string>&) override {
        device_.require_only_with("--measure", measure_);
        const std::vector<Rule> rules = space_.empty() ? default_audit_rules() : load_space(space_).rules;
        const std::vector<std::vector<Results>> devices = by_device(files_.read());
        if (!axis_.empty()) {
            if (measure_) {
                throw InputError("--axis says what was measured; leave out --measure");
            }
            return run_axis(devices);
        }
        std::vector<Audit> audits;
        audits.reserve(devices.size());
        for (const std::vector<Results>& runs : devices) {
            std::size_t trials = 0;
            for (const Results& run : runs) {
                trials += run.records.size();
            }
            const Notice notice(fmt::format("judging {} trials by {} rules", trials, rules.size()));
            audits.push_back(audit(runs, heuristics_, rules));
            if (measure_) {
                judge_measuring(runs, device_.wish(), {"normtune", "audit", "--measure"}, progress_on_stderr(quiet_),
                                [&](std::span<const Results> fresh) {
                                    audits.back() = audit(runs, heuristics_, rules, fresh);
                                    return wanted_again(audits.back());
                                });
            }
        }
        show(format_ == "json" ? audit_json(audits) : sections_text(audit_sections(audits), format_ == "markdown", style_of(stdout)));
        return ExitCode::good;
    }

private:
    ExitCode run_axis(const std::vector<std::vector<Results>>& devices) const {
        std::vector<AxisEffect> effects;
        for (const std::vector<Results>& runs : devices) {
            effects.push_back(axis_effect(runs, axis_));
        }
        show(format_ == "json" ? axis_json(effects) : sections_text(axis_sections(effects), format_ == "markdown", style_of(stdout)));
        return ExitCode::good;
    }

    void show(const std::string& report) const { format_ == "table" ? print(report) : print_data(report); }

    RecordFiles files_;
    std::string axis_;
    bool measure_ = false;
    DeviceOptions device_;
    bool quiet_ = false;
    std::string space_;
    std::vector<ThumbRule> heuristics_ = named_thumb_rules();
    std::string format_ = "table";
};

}  // namespace

std::unique_ptr<Command> make_audit_command() {
    return std::make_unique<AuditCommand>();
}

}  // namespace normtune::cli
