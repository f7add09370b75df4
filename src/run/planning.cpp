#include "run/planning.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "devices/registry.h"
#include "space/rules.h"
#include "support/error.h"
#include "support/parallel.h"

namespace normtune {
namespace {

/// What is listed is held in memory.
constexpr std::uint64_t most_listed = 2'000'000;

/// `listed`: so far, of all problems, which are planned on all cores.
PlannedProblem plan_one(const Problem& problem, const PlanningOptions& options, const BackendTraits& traits,
                        std::atomic<std::uint64_t>& listed) {
    PlannedProblem out;
    out.plan.problem = problem;
    const auto note = [&](const Candidate& candidate, const RuleTally* pruned_by) {
        const bool wanted = pruned_by == nullptr ? options.list || options.compile : options.list_pruned;
        if (!wanted) {
            return;
        }
        if (++listed > most_listed) {
            throw InputError(
                "--list, --show-pruned and --compile hold what they name in memory: at most 2,000,000 configurations, and there "
                "are more; without them plan counts all, and a smaller space or fewer problems can be listed");
        }
        if (pruned_by == nullptr) {
            out.kept.push_back(candidate);
        } else {
            out.pruned.push_back({candidate, pruned_by->rule});
        }
    };
    PlanVisitor visitor;
    if (options.list || options.list_pruned || options.compile) {
        visitor = note;
    }
    if (!options.candidates.alone) {
        out.plan = plan_problem(problem, options.space, traits, options.device, options.list_pruned, visitor);
    }
    for (const FolderPlan& folder : plan_candidates(options.candidates, problem, options.device, options.list_pruned)) {
        out.plan.points += folder.points;
        out.plan.kept += folder.kept.size();
        out.plan.tallies.insert(out.plan.tallies.end(), folder.tallies.begin(), folder.tallies.end());
        for (const auto& manifest : folder.kept) {
            note(Candidate(manifest), nullptr);
        }
        for (const auto& [candidate, tally] : folder.pruned_by) {
            note(candidate, &folder.tallies[tally]);
        }
    }
    return out;
}

TrialCode compile_one(CodeCompiler& compiler, const Problem& problem, const Candidate& candidate, const CodeRules& rules) {
    TrialCode out;
    try {
        out.info = compiler.compile(problem, candidate);
        const Configuration* own = candidate.configuration();
        if (const Rule* rule = own != nullptr ? rules.taken_by(*own, out.info->figures()) : nullptr) {
            out.pruned = true;
            out.reason = fmt::format("{}: {}", rule->name, rule->keep);
        }
    } catch (const DeviceError& error) {
        out.reason = error.what();
    }
    return out;
}

/// One problem is queued ahead of the one whose results are taken, so that no core waits.
void compile_all(Planning& planning, CodeCompiler& compiler) {
    const auto start = std::chrono::steady_clock::now();
    const auto queue = [&](std::size_t i) {
        if (i < planning.problems.size()) {
            for (const Candidate& candidate : planning.problems[i].kept) {
                compiler.ahead(planning.problems[i].plan.problem, candidate);
            }
        }
    };
    Progress progress;
    for (const PlannedProblem& planned : planning.problems) {
        progress.trials_total += planned.kept.size();
    }
    queue(0);
    for (std::size_t i = 0; i < planning.problems.size(); ++i) {
        queue(i + 1);
        PlannedProblem& planned = planning.problems[i];
        const CodeRules rules(planning.options.space, planned.plan.problem, planning.options.device);
        for (const Candidate& candidate : planned.kept) {
            planned.compiled.push_back(compile_one(compiler, planned.plan.problem, candidate, rules));
            ++progress.trials_done;
            progress.faulty += planned.compiled.back().info ? 0 : 1;
            if (planning.options.progress != nullptr) {
                progress.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                progress.trials_per_s = static_cast<double>(progress.trials_done) / std::max(progress.elapsed_s, 1e-9);
                progress.remaining_s = static_cast<double>(progress.trials_total - progress.trials_done) / progress.trials_per_s;
                progress.problem_key = planned.plan.problem.key();
                planning.options.progress->update(progress);
            }
        }
    }
    planning.compiler = compiler.name();
    planning.compile_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

bool Planning::compiles() const {
    return std::all_of(problems.begin(), problems.end(), [](const PlannedProblem& problem) {
        return std::all_of(problem.compiled.begin(), problem.compiled.end(), [](const TrialCode& code) { return code.info.has_value(); });
    });
}

SearchSpace one_point_space(const Configuration& configuration) {
    SearchSpace space;
    space.name = configuration.key();
    for (const AxisRow& row : axis_table) {
        space.axes.push_back({row.axis, {axis_value(configuration, row.axis)}});
    }
    return space;
}

SearchSpace space_of(const std::vector<Configuration>& configurations) {
    SearchSpace space = one_point_space(configurations.front());
    std::vector<std::string> points(configurations.size());
    for (AxisValues& axis : space.axes) {
        for (const Configuration& configuration : configurations) {
            const int value = axis_value(configuration, axis.axis);
            if (std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end()) {
                axis.values.push_back(value);
            }
        }
        for (std::size_t i = 0; i < points.size() && axis.values.size() > 1; ++i) {
            points[i] += fmt::format("{}{} == {}", points[i].empty() ? "" : " && ", axis_names.name(axis.axis),
                                     axis_text(axis.axis, axis_value(configurations[i], axis.axis)));
        }
    }
    space.of_listed_points = true;
    if (configurations.size() > 1) {
        Rule listed;
        listed.name = "listed";
        listed.keep = fmt::format("({})", fmt::join(points, ") || ("));
        space.rules.push_back(std::move(listed));
    }
    return space;
}

Planning plan_sweep(PlanningOptions options) {
    Planning out{};
    out.options = std::move(options);
    const BackendTraits traits = backend_traits(out.options.device.backend);
    const std::unique_ptr<CodeCompiler> compiler = out.options.compile ? open_compiler(out.options.device) : nullptr;
    const std::vector<Problem>& problems = out.options.problems;
    check_candidates(out.options.candidates, problems);
    const ShardShare share = share_of(out.options.shard.value_or(Shard{}), problems, out.options.space, traits, out.options.device);
    out.of_work = share.of_work;
    out.problems.resize(share.places.size());
    std::atomic<std::uint64_t> listed = 0;
    on_all_cores(out.problems.size(),
                 [&](std::size_t i) { out.problems[i] = plan_one(problems[share.places[i]], out.options, traits, listed); });
    const std::string& only = out.options.candidates.only;
    if (!only.empty() && !out.problems.empty() &&
        std::ranges::all_of(out.problems, [](const PlannedProblem& problem) { return problem.plan.points == 0; })) {
        throw no_such_candidate(only);
    }
    if (compiler != nullptr) {
        compile_all(out, *compiler);
    }
    return out;
}

}  // namespace normtune
