// What a sweep would run: the plans, the configurations behind them, and the code that a compiler makes of these. Needs no device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/candidate_choice.h"
#include "run/sweep.h"
#include "space/plan.h"
#include "space/shard.h"
#include "trial/compile_info.h"

namespace normtune {

struct PlanningOptions {
    std::vector<Problem> problems;  // of all shards
    SearchSpace space;
    CandidateChoice candidates;
    std::optional<Shard> shard;
    DeviceInfo device;
    bool list = false;         // every candidate that would run
    bool list_pruned = false;  // every other one, and the rule
    bool compile = false;
    ProgressSink* progress = nullptr;  // of compiling
};

/// What the compiler says of a candidate.
struct TrialCode {
    std::optional<CompileInfo> info;  // empty: it did not compile
    std::string reason;               // why it did not, or the rule that took it
    bool pruned = false;              // by a rule that reads the code
};

struct PlannedProblem {
    ProblemPlan plan;
    std::vector<Candidate> kept;  // where they are listed or compiled
    struct Pruned {
        Candidate candidate;
        std::string rule;
    };
    std::vector<Pruned> pruned;       // where they are listed
    std::vector<TrialCode> compiled;  // as kept, or empty
};

struct Planning {
    PlanningOptions options;
    std::vector<PlannedProblem> problems;  // of the shard
    double of_work = 1;                    // the shard's share of the estimated work
    std::string compiler;                  // "NVRTC 13.0"
    double compile_s = 0;                  // wall time of all of it

    bool has_code() const { return options.compile && !problems.empty(); }
    bool compiles() const;  // nothing failed to
};

/// A space of this configuration alone.
SearchSpace one_point_space(const Configuration& configuration);
/// Of these alone, one at least.
SearchSpace space_of(const std::vector<Configuration>& configurations);

/// Throws InputError: rules that fail on a problem, or no compiler for the device.
Planning plan_sweep(PlanningOptions options);

}  // namespace normtune
