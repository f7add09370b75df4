// What `normtune plan` prints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/device.h"
#include "report/table.h"
#include "space/plan.h"
#include "space/shard.h"

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
    /// Where asked for: what the compiler says of each kept configuration; as long as plans, or empty.
    struct Compiled {
        std::string key;
        std::optional<CompileInfo> info;  // empty: it did not compile
        std::string reason;               // why it did not, or the rule that took it
        bool pruned = false;              // by a rule that reads the code
    };
    std::vector<std::vector<Compiled>> compiled;
    std::string compiler;    // "NVRTC 13.0"
    double compile_s = 0;    // wall time of all of it
    bool list_code = false;  // the table has the figures of every configuration, not only of those that are amiss

    /// Where the plans are those of one shard.
    struct OfShard {
        Shard shard;
        std::size_t problems = 0;  // of all shards
        double of_work = 1;        // the shard's share of the estimated work
    };
    std::optional<OfShard> shard;

    bool compiles() const;  // nothing failed to
};

/// Points and kept configurations of each problem, what each rule took, the sums, and the keys where there are any.
std::string plan_table(const PlanReport& report, const Style& style);
/// The same as JSON; its schema is schemas/plan.schema.json.
std::string plan_json(const PlanReport& report);

}  // namespace normtune
