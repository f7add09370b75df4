#include "trial/plan_summary.h"

#include <algorithm>

namespace normtune {

std::optional<std::uint64_t> PlanSummary::taken_by(std::string_view rule) const {
    const auto found = std::find_if(pruned.begin(), pruned.end(), [&](const Pruned& tally) { return tally.rule == rule; });
    return found == pruned.end() ? std::nullopt : std::optional(found->count);
}

const PlanSummary::Pruned* PlanSummary::unfinished() const {
    const auto found =
        std::find_if(pruned.begin(), pruned.end(), [](const Pruned& tally) { return tally.rule == interrupted_rule && tally.count == 0; });
    return found == pruned.end() ? nullptr : &*found;
}

const PlanSummary::Pruned* PlanSummary::took_the_rest() const {
    const auto last = std::find_if(pruned.rbegin(), pruned.rend(), [](const Pruned& tally) { return tally.count > 0; });
    return last == pruned.rend() ? nullptr : &*last;
}

}  // namespace normtune
