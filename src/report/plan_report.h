// What `normtune plan` prints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "problem/plan.h"
#include "report/table.h"

namespace normtune {

struct PlanReport {
    SearchSpace space;
    DeviceInfo device;
    std::vector<ProblemPlan> plans;
    /// Where asked for: what was kept of each problem, and what was pruned by which rule; as long as plans, or empty.
    std::vector<std::vector<std::string>> kept_keys;
    struct PrunedKey {
        std::string key;
        std::string rule;
    };
    std::vector<std::vector<PrunedKey>> pruned_keys;
};

/// Points and kept configurations of each problem, what each rule took, the sums, and the keys where there are any.
std::string plan_table(const PlanReport& report, const Style& style);
/// The same as JSON; its schema is schemas/plan.schema.json.
std::string plan_json(const PlanReport& report);

}  // namespace normtune
