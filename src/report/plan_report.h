// What `normtune plan` prints.
#pragma once

#include <string>

#include "report/table.h"
#include "run/planning.h"

namespace normtune {

/// Points and kept configurations of each problem, what each rule took, the sums, and the keys where they were asked for.
std::string plan_table(const Planning& planning, const Style& style);
/// The same as JSON; its schema is schemas/plan.schema.json.
std::string plan_json(const Planning& planning);

}  // namespace normtune
