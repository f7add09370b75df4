// The "rules" that a sweep itself counts trials under, beside those of a space: no rule of a space has such a name.
#pragma once

#include <array>
#include <string_view>

namespace normtune {

/// It took the trials which an interrupted sweep did not come to; none (a tally of 0) of a problem that lacks but its finals or processes.
inline constexpr std::string_view interrupted_rule = "interrupted";
/// It took those for which the time budget was too short.
inline constexpr std::string_view budget_rule = "budget";
/// Of a problem whose records are from the store of winners: it took those that were measured then and are not kept (a tally that is
/// always there, zero counts included).
inline constexpr std::string_view stored_rule = "store";
/// It took those that a strategy did not draw.
inline constexpr std::string_view drawn_rule = "random";

inline constexpr std::array<std::string_view, 4> reserved_rules{interrupted_rule, budget_rule, stored_rule, drawn_rule};

}  // namespace normtune
