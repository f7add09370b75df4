#include "cli/commands.h"
#include "cli/output.h"
#include "cli/selection_options.h"
#include "devices/registry.h"
#include "report/plan_report.h"

namespace normtune::cli {
namespace {

class PlanCommand : public Command {
public:
    void declare(OptionSet& options) override {
        selection_.declare(options);
        device_.declare(options);
        options.group("Output");
        options.one("--format", word_of({"table", "json"}, format_), "json: schemas/plan.schema.json");
        options.flag("--list", "Also the key of every configuration that would run", list_);
        options.flag("--show-pruned", "Also the key of every pruned configuration, and by which rule", show_pruned_);
        options.example("normtune plan --shapes qwen3 --tokens 8192 --space exhaustive");
        options.example("normtune plan --shapes llama3 --site hidden --mode backward --list");
    }

    ExitCode run(const std::vector<std::string>&) override {
        PlanReport report;
        const Work work = selection_.work();
        report.space = work.space;
        const DeviceChoice device = device_.choose();
        report.device = device.info;
        const BackendTraits traits = backend_traits(device.backend);
        for (const Problem& problem : work.problems) {
            add(report, problem, traits);
        }
        print(format_ == "json" ? plan_json(report) : plan_table(report, style_of(stdout)));
        return ExitCode::good;
    }

private:
    void add(PlanReport& report, const Problem& problem, const BackendTraits& traits) const {
        std::vector<std::string> kept;
        std::vector<PlanReport::PrunedKey> pruned;
        PlanVisitor visitor;
        if (list_ || show_pruned_) {
            visitor = [&](const Configuration& configuration, const RuleTally* pruned_by) {
                if (pruned_by != nullptr && show_pruned_) {
                    pruned.push_back({configuration.key(), pruned_by->rule});
                } else if (pruned_by == nullptr && list_) {
                    kept.push_back(configuration.key());
                }
            };
        }
        report.plans.push_back(plan_problem(problem, report.space, traits, report.device, show_pruned_, visitor));
        if (list_) {
            report.kept_keys.push_back(std::move(kept));
        }
        if (show_pruned_) {
            report.pruned_keys.push_back(std::move(pruned));
        }
    }

    SelectionOptions selection_;
    DeviceOptions device_;
    std::string format_ = "table";
    bool list_ = false;
    bool show_pruned_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() {
    return std::make_unique<PlanCommand>();
}

}  // namespace normtune::cli
