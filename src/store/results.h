// A run's result files: written whole and renamed into place, read back by the commands that work on records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trial/plan_summary.h"
#include "trial/record.h"

namespace normtune {

/// Which sweep the results are of, and how much of it.
struct SweepIdentity {
    std::string digest;          // of all that was to be swept but the shard: equal in all shards of one sweep
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
    std::vector<std::string> command;    // argv
    std::optional<SweepIdentity> sweep;  // none in files of older versions, and where several were merged
    std::vector<MergedRun> merged;       // empty: a run of its own
    std::vector<PlanSummary> plans;
    std::vector<Record> records;
};

/// Are they of `normtune ab`, which measures two versions in the same rounds and ranks nothing?
bool of_two_versions(const Results& results);

/// results.csv, results.json and liger.csv, each as below, into a folder.
void write_result_files(const Results& results, const std::string& folder);
void write_results_csv(const Results& results, const std::string& path);
void write_results_json(const Results& results, const std::string& path);
void write_liger_csv(const Results& results, const std::string& path);  // speed in ms, memory in MB; passed trials only
/// results.json (or a folder that holds one). Throws InputError.
Results read_results_json(const std::string& path);
/// The text of a results.json; `file` names it in messages. Throws InputError.
Results parse_results_json(std::string_view text, const std::string& file);
/// results.csv, for commands that judge configurations. What a CSV does not hold is not there: the plan's tallies, the
/// medians of rounds, and of the device all but its name, architecture and driver. Throws InputError: rows of another
/// benchmark (Liger-Kernel's), of several devices, or with a configuration's key that does not parse.
Results read_results_csv(const std::string& path);
Results parse_results_csv(std::string_view text, const std::string& file);
/// What is judged or exported as numbers of one device is. Throws InputError where results of several were merged; the line says so.
void require_one_device(const Results& results);
/// Of one file: a trial that is there twice would count twice. Throws InputError, which names it.
void require_each_trial_once(std::span<const Record> records, const std::string& file);

}  // namespace normtune
