#include "report/export/best_export.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune {
namespace {

/// Do op, mode, dtype, casting, rows and cols say everything of the problem?
bool plainly_named(const Problem& problem) {
    Problem plain;
    plain.operation.op = problem.operation.op;
    plain.operation.mode = problem.operation.mode;
    plain.operation.dtype = problem.operation.dtype;
    plain.operation.weight_dtype = problem.operation.dtype;
    plain.operation.casting = problem.operation.casting;
    plain.shape = {problem.shape.rows, problem.shape.cols, problem.shape.cols};
    return plain.same_work(problem);
}

auto place(const Record* record) {
    const Operation& operation = record->problem.operation;
    return std::tuple(operation.op, operation.mode, operation.dtype, operation.casting, record->problem.shape.cols,
                      record->problem.shape.rows);
}

}  // namespace

ExportedWinners exported_winners(std::span<const Results> runs) {
    ExportedWinners out;
    std::map<std::string, std::pair<std::string, const Record*>> latest;  // when its run started, and the winner
    for (const Results& run : runs) {
        const DeviceInfo& device = run.environment.device;
        if (device.name != runs.front().environment.device.name) {
            throw InputError(fmt::format("these results are of several devices ({} and {}); export one at a time",
                                         quoted_for_message(runs.front().environment.device.name), quoted_for_message(device.name)));
        }
        out.device = device;
        for (const Winner& winner : find_winners(run, Whose::own)) {
            auto& [started, record] = latest[winner.record->problem.key()];
            if (record == nullptr || run.environment.started >= started) {
                started = run.environment.started;
                record = winner.record;
            }
        }
    }
    for (const auto& [key, winner] : latest) {
        if (plainly_named(winner.second->problem)) {
            out.winners.push_back(winner.second);
        } else {
            out.left_out.push_back(key);
        }
    }
    if (out.winners.empty()) {
        throw InputError(
            "no winner to export: nothing was ranked, or every problem needs more than an op, a mode, a "
            "dtype, a casting, rows and columns to be named");
    }
    std::sort(out.winners.begin(), out.winners.end(), [](const Record* a, const Record* b) { return place(a) < place(b); });
    return out;
}

}  // namespace normtune
