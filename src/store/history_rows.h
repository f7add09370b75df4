// Results as a history takes them, and a history's nights as other tools' files have them: Bencher's Metric Format and Google Benchmark's
// JSON, both ways. Pure but for reading files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/history.h"
#include "store/results.h"

namespace normtune {

/// What the user says of a run, in place of what its file says; empty: nothing.
struct HistoryLabels {
    std::string started;
    std::string device;
    std::string driver;
    std::string compiler;
    std::string revision;
};

/// What of the run is as the labels say.
inline void note_labels(HistoryRun& run, const HistoryLabels& labels) {
    run.driver_is_label = !labels.driver.empty();
    run.compiler_is_label = !labels.compiler.empty();
    run.revision_is_label = !labels.revision.empty();
}

struct HistoryInput {
    std::vector<HistoryBatch> batches;  // one a device
    std::string no_times;               // that no batch has any, in a line; empty: one has. What failed may still take times out
    std::vector<std::string> remarks;   // what is not as usual, a line each
};

/// What passed and was measured to the end, and what failed. `source`: the file. Throws InputError where there is neither, or no run can be
/// told by it.
HistoryInput history_of(const Results& results, const std::string& source, const HistoryLabels& labels);

/// What the runs that began at `started` measured (empty: when the newest did), for another tool: of a sweep over several devices of one
/// name all of it, and what its runs differ in is left empty. Of a trial that several of them have the last one's time stands; `remarks`
/// then says so. Empty: no run began then. Throws InputError where their devices have several names.
std::optional<HistoryBatch> night_of(const History& history, const std::string& started, std::vector<std::string>& remarks);

/// {name: {"latency": {value, lower_value, upper_value}, "floor": …, "copy": …}}, nanoseconds.
std::string bencher_json(const HistoryBatch& batch);
/// {"context": …, "benchmarks": […]}, microseconds; what the context says of the run are texts of normtune's own.
std::string google_benchmark_json(const HistoryBatch& batch);
/// Either of them. Throws InputError: neither, or no benchmark in it, or no start or device, which the labels then have to say.
HistoryInput parse_benchmarks(std::string_view text, const std::string& file, const HistoryLabels& labels);

}  // namespace normtune
