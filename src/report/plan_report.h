// What `normtune plan` prints.
#pragma once

#include <string>
#include <vector>

#include "report/sections.h"
#include "run/planning.h"

namespace normtune {

/// Points and kept configurations of each problem, the three rules that took most (`all_rules`: each), the sums, and what was compiled.
std::vector<Section> plan_sections(const Planning& planning, bool all_rules);
/// A line each of the keys that were asked for, and of compiled code that is amiss.
std::string plan_keys(const Planning& planning, const Style& style);
/// The same as JSON; its schema is schemas/plan.schema.json.
std::string plan_json(const Planning& planning);

}  // namespace normtune
