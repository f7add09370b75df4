// What planning left of a problem's space: kept with the results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "space/reserved_rules.h"

namespace normtune {

/// Beside stored_rule: it took those that had no time.
inline constexpr std::string_view stored_untimed_rule = "store.untimed";

/// How many points a problem's space had and what took the others: plan's tallies, kept with the results.
struct PlanSummary {
    std::string problem_key;
    std::uint64_t points = 0;
    std::uint64_t kept = 0;
    struct Pruned {
        std::string rule;
        std::string reason;
        std::uint64_t count = 0;
    };
    std::vector<Pruned> pruned;
    std::optional<std::uint64_t> place = {};  // among the problems of all shards, from 0; of a shard's results only

    /// What the rule took; none where it is not among the tallies.
    std::optional<std::uint64_t> taken_by(std::string_view rule) const;
    /// Of a problem of which nothing was kept: the rule that took what those before it had left; null: none took any.
    const Pruned* took_the_rest() const;
    /// Where all its trials have a record, but an interrupt came before its finals, or before all processes of --repeat had measured it:
    /// the tally of 0 that says which; else null.
    const Pruned* unfinished() const;
    /// The problem was not run: its records are from the store of winners.
    bool stored() const { return taken_by(stored_rule).has_value(); }
};

}  // namespace normtune
