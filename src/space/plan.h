// Planning: which configurations of a space run on a problem, and which rule took each of the others. No device is
// needed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "space/backend_traits.h"
#include "space/device_info.h"
#include "space/space.h"

namespace normtune {

struct RuleTally {
    std::string rule;    // "cpu.vector_bytes", "threads_per_row", a user's own
    std::string reason;  // the backend's reason, or the rule's expression
    std::uint64_t pruned = 0;
    bool lifted = false;  // keep_all_if_none took effect
};

struct ProblemPlan {
    Problem problem;
    std::uint64_t points = 0;
    std::uint64_t kept = 0;
    /// The backend's inert axes ("cpu.vector_bytes"), the limits of every backend ("invalid.…", "redundant.…":
    /// space/common_limits.h), the backend's own, then the space's rules in their order; zero counts included. Rules
    /// that read compiled code are not among them: they are asked after compiling (space/rules.h, CodeRules).
    std::vector<RuleTally> tallies;
};

/// Sees each point of the space once, in an order that the arguments of plan_problem fix. `pruned_by` is null for a
/// kept configuration, else the tally of the first rule (in tally order) that took it.
using PlanVisitor = std::function<void(const Configuration&, const RuleTally* pruned_by)>;

/// Time and memory grow with what limits and rules tell apart, not with the points. Throws InputError where a rule's
/// expression fails on this problem, and where a limit or a rule would be asked about too many combinations.
/// `visitor` may be empty (counts only). `visit_pruned` false: kept configurations only (much faster on large spaces).
ProblemPlan plan_problem(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device,
                         bool visit_pruned, const PlanVisitor& visitor);

/// The same, but `visitor` sees those of the kept configurations that are at `places(kept)`: ascending, from 0, in that order. The walk
/// takes no time for the others.
using PlanPlaces = std::function<std::vector<std::uint64_t>(std::uint64_t kept)>;
ProblemPlan plan_problem(const Problem& problem, const SearchSpace& space, const BackendTraits& traits, const DeviceInfo& device,
                         const PlanPlaces& places, const std::function<void(const Configuration&)>& visitor);

/// The first limit that takes one configuration of the space, whose rules are not asked; null: none does.
std::optional<RuleTally> limit_against(const Configuration& configuration, const Problem& problem, const SearchSpace& space,
                                       const BackendTraits& traits, const DeviceInfo& device);

}  // namespace normtune
