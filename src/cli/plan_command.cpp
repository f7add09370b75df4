#include <optional>

#include <fmt/format.h>

#include "cli/candidate_options.h"
#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "report/plan_report.h"
#include "space/reproducibility.h"
#include "support/plural.h"

namespace normtune::cli {
namespace {

class PlanCommand : public Command {
public:
    void declare(OptionSet& options) override {
        selection_.declare(options);
        candidates_.declare(options, selection_);
        declare_shard(options, shard_);
        device_.declare(options);
        device_.declare_arch(options, "Plan for a well-known device of this architecture; none need be here");
        options.flag("--deterministic", "Without configurations whose dgamma differs from run to run", deterministic_);
        options.flag("--compile", "Also compile what would run, on all cores; needs no GPU (cuda, hip)", compile_);
        table_.declare(options, {}, "json: schemas/plan.schema.json");
        options.flag("--rules", "All that each rule took, not of three alone", rules_);
        options.flag("--list", "Also the key of every configuration that would run", list_);
        options.flag("--show-pruned", "Also the key of every pruned configuration, and by which rule", show_pruned_);
        options.example("normtune plan --shapes qwen3 --tokens 8192 --space exhaustive");
        options.example("normtune plan --shapes llama3 --site hidden --mode backward --list");
        options.example("normtune plan --shapes qwen3 --tokens 8192 --arch sm_90 --compile");
        options.example("normtune plan --shapes qwen3 --candidate my_norm --candidates-only --arch sm_90 --compile");
    }

    ExitCode run(const std::vector<std::string>&) override {
        CandidateChoice choice = candidates_.choice(selection_);
        Work work = work_of(selection_, choice);
        const DeviceInfo device = device_.info("plans for a");
        if (deterministic_) {
            work.space.rules.push_back(deterministic_rule(device.backend));
        }
        if (table_.is("json")) {
            table_.require_no_order();
        }
        candidates_.ask(choice, device.backend, work.problems);
        if (compile_ && !choice.providers.empty()) {
            throw InputError("--compile: what a Python provider launches is compiled by itself, in a sweep; leave out --provider, or it");
        }
        std::optional<Notice> notice(std::in_place, "planning " + counted(work.problems.size(), "problem"));
        std::optional<ProgressReport> progress;
        if (compile_ && is_terminal(stderr)) {
            notice.reset();
            progress.emplace(stderr, false);
        }
        const Planning planning = plan_sweep({std::move(work.problems), std::move(work.space), std::move(choice), shard_, device, list_,
                                              show_pruned_, compile_, progress ? &*progress : nullptr});
        progress.reset();
        notice.reset();
        if (table_.is("json")) {
            print_data(plan_json(planning));
        } else {
            table_.show(plan_sections(planning, rules_));
            if (table_.is("table")) {
                print(plan_keys(planning, table_.style()));
            }
        }
        return planning.compiles() ? ExitCode::good : ExitCode::faulty_trials;
    }

private:
    SelectionOptions selection_;
    CandidateOptions candidates_;
    std::optional<Shard> shard_;
    DeviceOptions device_;
    bool deterministic_ = false;
    bool compile_ = false;
    TableOptions table_;
    bool rules_ = false;
    bool list_ = false;
    bool show_pruned_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() {
    return std::make_unique<PlanCommand>();
}

}  // namespace normtune::cli
