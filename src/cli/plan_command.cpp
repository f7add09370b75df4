#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/selection_options.h"
#include "devices/registry.h"
#include "report/plan_report.h"
#include "space/rules.h"
#include "support/on_all_cores.h"

namespace normtune::cli {
namespace {

constexpr std::uint64_t most_listed = 2'000'000;

class PlanCommand : public Command {
public:
    void declare(OptionSet& options) override {
        selection_.declare(options);
        declare_shard(options, shard_);
        device_.declare(options);
        options.one("--arch", word_of(known_architectures(), arch_),
                    "Plan for a well-known device of this architecture; none need be here");
        options.flag("--compile", "Also compile what would run, on all cores; needs no GPU (cuda, hip)", compile_);
        options.group("Output");
        options.one("--format", word_of({"table", "json"}, format_), "json: schemas/plan.schema.json");
        options.flag("--list", "Also the key of every configuration that would run", list_);
        options.flag("--show-pruned", "Also the key of every pruned configuration, and by which rule", show_pruned_);
        options.example("normtune plan --shapes qwen3 --tokens 8192 --space exhaustive");
        options.example("normtune plan --shapes llama3 --site hidden --mode backward --list");
        options.example("normtune plan --shapes qwen3 --tokens 8192 --arch sm_90 --compile");
    }

    ExitCode run(const std::vector<std::string>&) override {
        PlanReport report;
        const Work work = selection_.work();
        report.space = work.space;
        report.device = device();
        const BackendTraits traits = backend_traits(report.device.backend);
        std::unique_ptr<CodeCompiler> compiler = compile_ ? open_compiler(report.device) : nullptr;
        const ShardShare share = share_of(shard_.value_or(Shard{}), work.problems, work.space, traits, report.device);
        std::vector<Planned> planned(share.places.size());
        on_all_cores(planned.size(),
                     [&](std::size_t i) { planned[i] = plan(work.problems[share.places[i]], report.space, traits, report.device); });
        std::vector<std::vector<Configuration>> kept;
        for (Planned& one : planned) {
            kept.push_back(std::move(one.kept));
            add(report, std::move(one));
        }
        if (shard_) {
            report.shard = PlanReport::OfShard{*shard_, work.problems.size(), share.of_work};
        }
        if (compiler != nullptr) {
            compile(report, *compiler, kept);
        }
        format_ == "json" ? print_data(plan_json(report)) : print(plan_table(report, style_of(stdout)));
        return report.compiles() ? ExitCode::good : ExitCode::faulty_trials;
    }

private:
    DeviceInfo device() const {
        if (!arch_) {
            return device_.choose().info;
        }
        DeviceInfo known = describe_architecture(*arch_);
        if (!device_.fits(known.backend)) {
            throw InputError(
                fmt::format("--arch {} plans for a {} device that need not be here: --device, "
                            "--replay-script and another --backend do not go with it",
                            *arch_, backend_names.name(known.backend)));
        }
        return known;
    }

    // One problem is queued ahead of the one whose results are taken, so that no core waits.
    void compile(PlanReport& report, CodeCompiler& compiler, const std::vector<std::vector<Configuration>>& kept) const {
        const auto start = std::chrono::steady_clock::now();
        const auto queue = [&](std::size_t problem) {
            for (std::size_t i = 0; problem < kept.size() && i < kept[problem].size(); ++i) {
                compiler.ahead(report.plans[problem].problem, kept[problem][i]);
            }
        };
        queue(0);
        for (std::size_t i = 0; i < kept.size(); ++i) {
            queue(i + 1);
            const Problem& problem = report.plans[i].problem;
            const CodeRules rules(report.space, problem, report.device);
            std::vector<PlanReport::Compiled>& compiled = report.compiled.emplace_back();
            for (const Configuration& configuration : kept[i]) {
                PlanReport::Compiled& one = compiled.emplace_back();
                one.key = configuration.key();
                try {
                    one.info = compiler.compile(problem, configuration);
                    if (const Rule* rule = rules.taken_by(configuration, one.info->figures())) {
                        one.pruned = true;
                        one.reason = fmt::format("{}: {}", rule->name, rule->keep);
                    }
                } catch (const DeviceError& error) {
                    one.reason = error.what();
                }
            }
        }
        report.compiler = compiler.name();
        report.compile_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        report.list_code = list_;
    }

    struct Planned {
        ProblemPlan plan;
        std::vector<Configuration> kept;  // to compile
        std::vector<std::string> kept_keys;
        std::vector<PlanReport::PrunedKey> pruned_keys;
    };

    Planned plan(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device) const {
        Planned planned;
        const auto count = [this] {
            if (++listed_ > most_listed) {
                throw InputError(
                    fmt::format("--list, --show-pruned and --compile hold what they name in memory: at most {} configurations, and there "
                                "are more; without them plan counts all, and a smaller space or fewer problems can be listed",
                                grouped(most_listed)));
            }
        };
        PlanVisitor visitor;
        if (list_ || show_pruned_ || compile_) {
            visitor = [&](const Configuration& configuration, const RuleTally* pruned_by) {
                if (pruned_by != nullptr ? show_pruned_ : list_ || compile_) {
                    count();
                }
                if (pruned_by == nullptr && compile_) {
                    planned.kept.push_back(configuration);
                }
                if (pruned_by != nullptr && show_pruned_) {
                    planned.pruned_keys.push_back({configuration.key(), pruned_by->rule});
                } else if (pruned_by == nullptr && list_) {
                    planned.kept_keys.push_back(configuration.key());
                }
            };
        }
        planned.plan = plan_problem(problem, space, traits, device, show_pruned_, visitor);
        return planned;
    }

    void add(PlanReport& report, Planned planned) const {
        report.plans.push_back(std::move(planned.plan));
        if (list_ && !(compile_ && format_ == "table")) {  // the table lists them with their figures
            report.kept_keys.push_back(std::move(planned.kept_keys));
        }
        if (show_pruned_) {
            report.pruned_keys.push_back(std::move(planned.pruned_keys));
        }
    }

    SelectionOptions selection_;
    std::optional<Shard> shard_;
    DeviceOptions device_;
    std::optional<std::string> arch_;
    bool compile_ = false;
    std::string format_ = "table";
    bool list_ = false;
    bool show_pruned_ = false;
    mutable std::atomic<std::uint64_t> listed_ = 0;  // problems are planned on all cores
};

}  // namespace

std::unique_ptr<Command> make_plan_command() {
    return std::make_unique<PlanCommand>();
}

}  // namespace normtune::cli
