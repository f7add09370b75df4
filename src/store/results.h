// A run's result files: written whole and renamed into place, read back by the commands that work on records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/record.h"

namespace normtune {

/// The "rule" that took the trials which an interrupted sweep did not come to.
inline constexpr std::string_view interrupted_rule = "interrupted";
/// The one that took those for which the time budget was too short.
inline constexpr std::string_view budget_rule = "budget";
/// The "rules" that took the trials of a problem whose records are from the store of winners: those that were measured
/// then and are not kept (a tally that is always there, zero counts included), and those that had no time.
inline constexpr std::string_view stored_rule = "store";
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
    /// The problem was not run: its records are from the store of winners.
    bool stored() const { return taken_by(stored_rule).has_value(); }
};

/// Which selection the results are of, and how much of it.
struct RunSelection {
    std::string digest;          // of all that was selected but the shard: equal in all shards of one sweep
    std::string space;           // digest of the space's axes and rules
    std::uint64_t problems = 0;  // of all shards
    int shards = 1;
    std::vector<int> present = {1};  // the shards that are in these results, ascending
};

/// A run that went into merged results.
struct MergedRun {
    Environment environment;
    std::vector<std::string> command;  // argv
};

struct Results {
    Environment environment;
    std::vector<std::string> command;       // argv
    std::optional<RunSelection> selection;  // none in files of older versions, and where several were merged
    std::vector<MergedRun> merged;          // empty: a run of its own
    std::vector<PlanSummary> plans;
    std::vector<Record> records;
};

/// results.csv, results.json and liger.csv, each as below, into a folder.
void write_result_files(const Results& results, const std::string& folder);
void write_results_csv(const Results& results, const std::string& path);
void write_results_json(const Results& results, const std::string& path);
void write_liger_csv(const Results& results, const std::string& path);  // speed in ms, memory in MB; passed trials only
/// results.json (or a folder that holds one). Throws InputError.
Results read_results_json(const std::string& path);

}  // namespace normtune
