#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
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
        table_.declare(options, {}, "json: schemas/audit.schema.json,\nof --axis schemas/axis.schema.json");
        options.example("normtune audit results/run-20261120-120000");
        options.example("normtune audit results.json --heuristic 'two_rows=rows_per_program == (cols <= 512 ? 2 : 1)'");
        options.example("normtune audit results.json --axis block_size");
        options.example("normtune audit results/run-20261120-120000 --measure");
        options.example("normtune audit results.json --space my_space.yaml --format markdown");
    }

    ExitCode run(const std::vector<std::string>&) override {
        device_.require_only_with("--measure", measure_);
        if (table_.is("json")) {
            table_.require_no_order();
        }
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
        table_.is("json") ? print_data(audit_json(audits)) : table_.show(audit_sections(audits));
        return ExitCode::good;
    }

private:
    ExitCode run_axis(const std::vector<std::vector<Results>>& devices) const {
        std::vector<AxisEffect> effects;
        for (const std::vector<Results>& runs : devices) {
            effects.push_back(axis_effect(runs, axis_));
        }
        table_.is("json") ? print_data(axis_json(effects)) : table_.show(axis_sections(effects));
        return ExitCode::good;
    }

    RecordFiles files_;
    std::string axis_;
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
