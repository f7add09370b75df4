#include "report/export/best_export.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune {
namespace {

auto place(const Record* record) {
    const Operation& operation = record->problem.operation;
    const Shape& shape = record->problem.shape;
    return std::tuple(operation.op, operation.mode, operation.dtype, operation.casting, operation.offset, is_strided(shape), shape.cols,
                      shape.rows, shape.row_stride);
}

/// What wins on a CPU, or in a script, is no launch for a GPU.
void require_gpu(const DeviceInfo& device) {
    if (device.backend == Backend::cpu || device.backend == Backend::replay) {
        throw InputError(
            fmt::format("these winners are those of {} ({}), not of a GPU that a launcher could be made for; "
                        "--any-device exports them as they are",
                        device.backend == Backend::cpu ? "a CPU" : "a replay device", quoted_for_message(device.name)));
    }
}

InputError nothing_to_export(const LeftOut& left_out) {
    const std::size_t others = left_out.of_others.size();
    std::string why;
    if (others > 0) {
        why = fmt::format("no kernel of normtune's own has a time on {}{}", left_out.of_others.front(),
                          others > 1 ? fmt::format(" and {} more", others - 1) : "");
    }
    if (others == 0 || !left_out.unnamed.empty()) {
        why += fmt::format("{}{} needs more than an op, a mode, a dtype, a casting, rows, columns, an offset and a row stride to be named",
                           why.empty() ? "nothing was ranked, or " : ", and ", why.empty() ? "every problem" : "every other problem");
    }
    return InputError("no winner to export: " + why);
}

}  // namespace

void LeftOut::add(const LeftOut& more) {
    unnamed.insert(unnamed.end(), more.unnamed.begin(), more.unnamed.end());
    of_others.insert(of_others.end(), more.of_others.begin(), more.of_others.end());
}

std::string LeftOut::text(std::string_view unnamed_as) const {
    std::string out;
    for (const std::string& key : unnamed) {
        out += fmt::format("Left out, as {}: {}\n", unnamed_as, key);
    }
    for (const std::string& key : of_others) {
        out += fmt::format("Left out, as no kernel of normtune's own has a time there: {}\n", key);
    }
    return out;
}

bool plainly_named(const Problem& problem) {
    Problem plain;
    plain.operation.op = problem.operation.op;
    plain.operation.mode = problem.operation.mode;
    plain.operation.dtype = problem.operation.dtype;
    plain.operation.weight_dtype = problem.operation.dtype;
    plain.operation.casting = problem.operation.casting;
    plain.operation.offset = problem.operation.offset;
    plain.shape = problem.shape;
    return plain.same_work(problem);
}

ExportedWinners exported_winners(std::span<const Results> runs, bool any_device, bool (*named)(const Problem&)) {
    ExportedWinners out;
    std::map<std::string, std::pair<std::string, const Record*>> latest;  // when its run started, and the winner
    std::set<std::string> won;
    for (const Results& run : runs) {
        require_one_device(run);
        const DeviceInfo& device = run.environment.device;
        if (device.name != runs.front().environment.device.name) {
            throw InputError(fmt::format("these results are of several devices ({} and {}); export one at a time",
                                         quoted_for_message(runs.front().environment.device.name), quoted_for_message(device.name)));
        }
        if (device.compute_units != runs.front().environment.device.compute_units) {
            throw InputError(fmt::format("these results are of {} with {} compute units and with {}; export one at a time",
                                         quoted_for_message(device.name), runs.front().environment.device.compute_units,
                                         device.compute_units));
        }
        if (!any_device) {
            require_gpu(device);
        }
        out.device = device;
        for (const Winner& winner : find_winners(run)) {
            won.insert(winner.record->problem.key());
        }
        for (const Winner& winner : find_winners(run, Whose::own)) {
            auto& [started, record] = latest[winner.record->problem.key()];
            if (record == nullptr || run.environment.started >= started) {
                started = run.environment.started;
                record = winner.record;
            }
        }
    }
    for (const auto& [key, winner] : latest) {
        if (named(winner.second->problem)) {
            out.winners.push_back(winner.second);
        } else {
            out.left_out.unnamed.push_back(key);
        }
    }
    std::ranges::copy_if(won, std::back_inserter(out.left_out.of_others), [&](const std::string& key) { return !latest.contains(key); });
    if (out.winners.empty()) {
        throw nothing_to_export(out.left_out);
    }
    std::sort(out.winners.begin(), out.winners.end(), [](const Record* a, const Record* b) { return place(a) < place(b); });
    return out;
}

}  // namespace normtune
