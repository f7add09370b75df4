// How sweep and verify end: what people see of a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/run_options.h"
#include "report/sections.h"
#include "run/sweep.h"

namespace normtune::cli {

/// Runs the sweep in its folder, with progress on stderr; the folder's files are named at the end.
SweepResult run_with_progress(const RunOptions& run, SweepOptions& options);
ExitCode exit_code_of(const SweepResult& result);
/// "Shard 2/4: 5 of 20 problems." of a sweep in shards; what the run gave; what became of its trials; where its files are.
std::vector<Section> run_sections(const SweepOptions& options, const SweepResult& result, std::vector<Section> found);

}  // namespace normtune::cli
