// A small sweep on the replay device, for tests that look at what comes out of it.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "run/sweep.h"
#include "support/temporary_folder.h"

namespace normtune::testing {

struct RecordingSink : ProgressSink {
    void update(const Progress& progress) override { updates.push_back(progress); }
    void warn(const std::string& line) override { warnings.push_back(line); }
    std::vector<Progress> updates;
    std::vector<std::string> warnings;
};

inline Problem small_problem(std::int64_t rows = 256, std::int64_t cols = 1024) {
    Problem problem;
    problem.shape = {rows, cols, cols};
    return problem;
}

/// One problem, every trial measured alike, and one trial for each of rows_per_program 1, 2, 4, 8, 16, 32 (keys have
/// ".r1.", ".r2.", …).
inline SweepOptions small_sweep(const TemporaryFolder& folder, const std::string& script, const std::string& out = "out") {
    SweepOptions options;
    options.command = {"normtune", "sweep"};
    options.problems = {small_problem()};
    options.space.name = "small";
    options.space.axes = {{Axis::rows_per_program, {1, 2, 4, 8, 16, 32}}, {Axis::grid, {static_cast<int>(Grid::packed)}}};
    options.strategy = find_strategy("exhaustive");
    options.backend = Backend::replay;
    options.replay_script = folder.write("script.yaml", script);
    options.trial_timeout_s = 20;
    options.out_folder = std::filesystem::exists(folder.path(out)) ? folder.path(out) : folder.make_folder(out);
    return options;
}

/// Records of one problem by that part of their configuration's key ("r4").
inline std::map<std::string, Record> by_rows(const SweepResult& result) {
    std::map<std::string, Record> records;
    for (const Record& record : result.results.records) {
        records.emplace(fmt::format("r{}", record.candidate.configuration()->rows_per_program), record);
    }
    return records;
}

}  // namespace normtune::testing
