#include "space/plan.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "space/common_limits.h"
#include "space/plan_points.h"
#include "space/rules.h"
#include "support/error.h"

namespace normtune {
namespace {

// Of one limit or rule on one problem: some seconds. A rule that reads all axes would be asked about all that is left of a
// space.
constexpr std::uint64_t most_asked = std::uint64_t{1} << 22;

/// In the order in which they are asked.
std::vector<BackendLimit> limits_of(const SearchSpace& space, const BackendTraits& traits) {
    std::vector<BackendLimit> out;
    if (!space.of_listed_points) {
        out = inert_limits(space, traits);
    }
    for (const auto& limits : {common_limits(space, traits), traits.limits}) {
        std::ranges::copy_if(limits, std::back_inserter(out),
                             [&](const BackendLimit& limit) { return !space.of_listed_points || !limit.name.starts_with("redundant."); });
    }
    return out;
}

PlanFilter filter_of(BackendLimit limit, const SearchSpace& space, const Problem& problem, const DeviceInfo& device) {
    std::vector<Axis> axes = limit.axes;
    std::vector<AlikeValues> alike = std::move(limit.alike);
    return {std::move(axes),
            [limit = std::move(limit), &space, &problem, &device, asked = std::uint64_t{0}](const Configuration& configuration) mutable {
                if (asked == most_asked) {
                    throw InputError(
                        fmt::format("space '{}': the limit {} would be asked about more than {} combinations of the values that the space "
                                    "lists; list fewer values of axes with many, such as rows_per_program, programs_per_sm or unit_margin",
                                    space.name, limit.name, asked));
                }
                ++asked;
                return limit.admits(configuration, problem, device) ? RuleAnswer::keeps : RuleAnswer::prunes;
            },
            {},
            std::move(alike)};
}

PlanFilter filter_of(const std::shared_ptr<CompiledRule>& compiled) {
    return {compiled->axes(),
            [compiled, asked = std::uint64_t{0}](const Configuration& configuration) mutable {
                if (asked == most_asked) {
                    compiled->fail_as_too_large(asked);
                }
                ++asked;
                return compiled->ask(configuration);
            },
            [compiled](const Configuration& configuration) { compiled->fail(configuration); }};
}

/// Fills in all of `plan`. What is left of the space, which must outlive it, as must problem and device.
PlanPoints filtered(ProblemPlan& plan, const Problem& problem, const SearchSpace& space, const BackendTraits& traits,
                    const DeviceInfo& device, bool remember_takers) {
    plan.problem = problem;
    plan.points = space.points();
    std::vector<PlanFilter> filters;
    for (const BackendLimit& limit : limits_of(space, traits)) {
        plan.tallies.push_back({limit.name, limit.reason});
        filters.push_back(filter_of(limit, space, problem, device));
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

    PlanPoints points(space, std::move(filters), remember_takers);
    for (std::size_t f = 0; f < plan.tallies.size(); ++f) {
        const std::uint64_t before = points.count_kept();
        points.apply(f);
        const bool keep_all_if_none = f >= first_rule && rules[f - first_rule]->keep_all_if_none;
        if (keep_all_if_none && before > 0 && points.count_kept() == 0) {
            plan.tallies[f].lifted = true;
            points.undo();
        }
        plan.tallies[f].pruned = before - points.count_kept();
    }
    plan.kept = points.count_kept();
    return points;
}

}  // namespace

ProblemPlan plan_problem(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device,
                         bool visit_pruned, const PlanVisitor& visitor) {
    ProblemPlan plan;
    const PlanPoints points = filtered(plan, problem, space, traits, device, visitor && visit_pruned);
    if (visitor) {
        points.visit([&](const Configuration& configuration, std::size_t filter) {
            visitor(configuration, filter == PlanPoints::kept ? nullptr : &plan.tallies[filter]);
        });
    }
    return plan;
}

ProblemPlan plan_problem(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device,
                         const PlanPlaces& places, const std::function<void(const Configuration&)>& visitor) {
    ProblemPlan plan;
    const PlanPoints points = filtered(plan, problem, space, traits, device, false);
    points.visit_kept(places(plan.kept), visitor);
    return plan;
}

std::optional<RuleTally> limit_against(const Configuration& configuration, const Problem& problem, const SearchSpace& space,
                                       const BackendTraits& traits, const DeviceInfo& device) {
    for (const BackendLimit& limit : limits_of(space, traits)) {
        if (!limit.admits(configuration, problem, device)) {
            return RuleTally{limit.name, limit.reason, 1};
        }
    }
    return std::nullopt;
}

}  // namespace normtune
