#include <fmt/format.h>

#include "cli/candidate_options.h"
#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/table_options.h"
#include "kernels/gpu/limits.h"
#include "report/explanation.h"
#include "run/planning.h"

namespace normtune::cli {
namespace {

class ExplainCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("KEY", text("KEY", key_), "A configuration's key, or PROVIDER:KEY of another provider's kernel");
        options.flag("--list-axes", "Instead: every axis, its part of a key, and what its values do", list_axes_);
        options.one("--problem", text("KEY", problem_), "Also how it is launched on this problem");
        options.many("--candidate", folder(folders_), "Folders of the other provider's kernels, for its launches");
        device_.declare(options);
        device_.declare_arch(options, "Launched on a well-known device of this architecture; none need be here");
        table_.declare(options);
        options.example("normtune explain w4.t128.r4.row.registers.masked.packed.v8");
        options.example(
            "normtune explain w4.t128.r1.row.registers.masked.per_row --problem rms_norm/forward/bf16/llama/8192x4096 --arch sm_90");
        options.example("normtune explain --list-axes");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (list_axes_) {
            if (!key_.empty() || !problem_.empty() || !folders_.empty() || device_.given()) {
                throw InputError("--list-axes explains all axes and no key; leave out the key, --problem, --candidate and what device");
            }
            table_.show(normtune::list_axes());
            return ExitCode::good;
        }
        if (key_.empty()) {
            throw InputError("which configuration? give its key, or --list-axes");
        }
        const bool own = key_.find(':') == std::string::npos;
        std::vector<Section> sections = own ? explain_configuration(Configuration::parse(key_)) : explain_key(key_);
        if (!problem_.empty()) {
            sections.push_back(on_problem(own));
        } else if (!folders_.empty()) {
            throw InputError("--candidate gives a kernel's launches on a problem; add --problem KEY");
        } else if (device_.given()) {
            throw InputError("--arch, --backend, --device and --replay-script say where a problem is launched; add --problem KEY");
        }
        table_.show(std::move(sections));
        return ExitCode::good;
    }

private:
    Section on_problem(bool own) const {
        const Problem problem = parse_problem_key(problem_);
        const DeviceInfo device = device_.info("explains for a");
        if (own != folders_.empty()) {
            throw InputError(
                own ? "--candidate is for keys of other providers (PROVIDER:KEY)"
                    : fmt::format("{} is of another provider; name its folder with --candidate DIR", quoted_for_message(key_)));
        }
        CandidateChoice choice;
        choice.only = own ? "" : key_;
        choice.alone = !own;
        for (const std::string& path : folders_) {
            choice.folders.push_back(KernelFolder::load(path));
        }
        const SearchSpace space = own ? one_point_space(Configuration::parse(key_)) : SearchSpace{};
        const Planning planning = plan_sweep({{problem}, space, std::move(choice), std::nullopt, device, true, true, false});
        const PlannedProblem& planned = planning.problems.front();
        const std::string title = fmt::format("{} on {} ({})", problem.key(), device.name, device.arch);
        for (const Candidate& candidate : planned.kept) {
            if (candidate.identity() == key_ && candidate.manifest() != nullptr) {
                return explain_launches(title, candidate.manifest()->plan);
            }
        }
        if (!own) {
            throw InputError(fmt::format("--candidate: none of these folders has {} on {} and {}", quoted_for_message(key_), problem.key(),
                                         device.arch));
        }
        return own_configuration(planned, title, device);
    }

    Section own_configuration(const PlannedProblem& planned, const std::string& title, const DeviceInfo& device) const {
        const Configuration configuration = Configuration::parse(key_);
        std::string pruned;
        for (const RuleTally& tally : planned.plan.tallies) {
            if (planned.plan.kept == 0 && tally.pruned > 0) {
                pruned = fmt::format("A sweep leaves it out here: {}: {}.\n", tally.rule, tally.reason);
            }
        }
        const bool on_gpu = device.backend == Backend::cuda || device.backend == Backend::hip;
        const std::string objection = on_gpu ? gpu::objection(configuration, planned.plan.problem, device) : "";
        if (pruned.empty() && !objection.empty()) {
            return {title, Table(), fmt::format("It does not compile here: {}.\n", objection)};
        }
        if (!objection.empty() || (!on_gpu && !pruned.empty())) {
            return {title, Table(), pruned};
        }
        Section section = explain_on(configuration, planned.plan.problem, device);
        section.note += pruned;
        return section;
    }

    std::string key_;
    bool list_axes_ = false;
    std::string problem_;
    std::vector<std::string> folders_;
    DeviceOptions device_;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
    return std::make_unique<ExplainCommand>();
}

}  // namespace normtune::cli
