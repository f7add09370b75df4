#include "problem/plan.h"

#include <memory>
#include <utility>

#include "problem/common_limits.h"
#include "problem/plan_walk.h"
#include "problem/rules.h"

namespace normtune {
namespace {

PlanFilter filter_of(BackendLimit limit, const Problem& problem, const DeviceInfo& device) {
    return {limit.axes,
            [admits = std::move(limit.admits), &problem, &device](const Configuration& configuration) {
                return admits(configuration, problem, device) ? RuleAnswer::keeps : RuleAnswer::prunes;
            },
            {}};
}

PlanFilter filter_of(const std::shared_ptr<CompiledRule>& compiled) {
    return {compiled->axes(), [compiled](const Configuration& configuration) { return compiled->ask(configuration); },
            [compiled](const Configuration& configuration) { compiled->fail(configuration); }};
}

}  // namespace

ProblemPlan plan_problem(const Problem& problem, const SearchSpace& space, const BackendTraits& traits,
                         const DeviceInfo& device, bool visit_pruned, const PlanVisitor& visitor) {
    ProblemPlan plan;
    plan.problem = problem;
    plan.points = space.points();
    std::vector<PlanFilter> filters;
    for (const auto& limits : {inert_limits(space, traits), common_limits(space, traits), traits.limits}) {
        for (const BackendLimit& limit : limits) {
            plan.tallies.push_back({limit.name, limit.reason});
            filters.push_back(filter_of(limit, problem, device));
        }
    }
    const std::size_t first_rule = filters.size();
    std::vector<const Rule*> rules;  // those that need no compiled code
    for (const Rule& rule : space.rules) {
        const auto compiled = std::make_shared<CompiledRule>(rule, problem, device);
        if (!compiled->reads_code()) {
            plan.tallies.push_back({rule.name, rule.keep});
            filters.push_back(filter_of(compiled));
            rules.push_back(&rule);
        }
    }

    PlanWalk walk(space, std::move(filters));
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const std::size_t f = first_rule + i;
        const bool something_reaches_it = rules[i]->keep_all_if_none && walk.any_kept(f);
        if (something_reaches_it && !walk.any_kept(f + 1)) {
            plan.tallies[f].lifted = true;
            walk.lift(f);
        }
    }

    PlanWalk::Visit visit;
    if (visitor) {
        visit = [&](const Configuration& configuration, std::size_t filter) {
            visitor(configuration, filter == PlanWalk::kept ? nullptr : &plan.tallies[filter]);
        };
    }
    const PlanWalk::Counts counts = walk.count(visit_pruned, visit);
    plan.kept = counts.kept;
    for (std::size_t f = 0; f < plan.tallies.size(); ++f) {
        plan.tallies[f].pruned = counts.taken[f];
    }
    return plan;
}

}  // namespace normtune
