// A run's result files: written whole and renamed into place, read back by the commands that work on records.
#pragma once

#include <string>
#include <vector>

#include "store/record.h"

namespace normtune {

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
};

struct Results {
    Environment environment;
    std::vector<std::string> command;  // argv
    std::vector<PlanSummary> plans;
    std::vector<Record> records;
};

void write_results_csv(const Results& results, const std::string& path);
void write_results_json(const Results& results, const std::string& path);
void write_liger_csv(const Results& results, const std::string& path);  // speed in ms, memory in MB; passed trials only
/// results.json (or a folder that holds one). Throws InputError.
Results read_results_json(const std::string& path);

}  // namespace normtune
