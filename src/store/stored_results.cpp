#include "store/stored_results.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "support/pattern.h"
#include "trial/dependent_launch.h"

namespace normtune {

namespace {

bool asked_for(const StoredProblem& stored, const StoreFilter& filter) {
    const auto matches = [](const std::string& pattern, const std::string& text) {
        return pattern.empty() || matches_pattern(pattern, text);
    };
    return matches(filter.device, stored.identity.device) && matches(filter.arch, stored.identity.arch) &&
           stored.records.front().measurement->cold == filter.cold && !launched_dependent(stored.records.front().candidate);
}

/// The rows of one device.
struct DeviceRows {
    std::vector<StoredProblem> newest;  // one a problem
    std::map<std::string, std::size_t> places;
    std::set<std::string> with_older;

    void add(StoredProblem row) {
        const std::string key = fmt::format("{} eps {}", row.problem().key(), row.problem().operation.eps);
        const auto [place, added] = places.try_emplace(key, newest.size());
        if (added) {
            newest.push_back(std::move(row));
            return;
        }
        with_older.insert(key);
        if (row.measured_at >= newest[place->second].measured_at) {
            newest[place->second] = std::move(row);
        }
    }
};

/// By op, mode, types and casting, then the narrow rows first.
bool comes_before(const StoredProblem& a, const StoredProblem& b) {
    const auto place = [](const Problem& problem) {
        const Operation& operation = problem.operation;
        return std::tuple(operation.op, operation.mode, operation.dtype, operation.casting, problem.shape.cols, problem.shape.rows,
                          problem.key());
    };
    return place(a.problem()) < place(b.problem());
}

DeviceWinners winners_of(DeviceRows rows) {
    std::sort(rows.newest.begin(), rows.newest.end(), comes_before);
    DeviceWinners out;
    out.older = rows.with_older.size();
    out.results.environment = std::max_element(rows.newest.begin(), rows.newest.end(), [](const auto& a, const auto& b) {
                                  return a.measured_at < b.measured_at;
                              })->environment;
    for (StoredProblem& row : rows.newest) {
        PlanSummary plan;
        plan.problem_key = row.problem().key();
        plan.points = row.trials;
        plan.kept = row.trials;
        out.results.plans.push_back(stored_plan(std::move(plan), row));
        std::move(row.records.begin(), row.records.end(), std::back_inserter(out.results.records));
    }
    return out;
}

}  // namespace

PlanSummary stored_plan(PlanSummary plan, const StoredProblem& stored) {
    const std::uint64_t kept = stored.records.size();
    plan.kept -= stored.trials - kept;
    plan.pruned.push_back({std::string(stored_rule),
                           fmt::format("not kept of what was measured on {}; --fresh measures again", stored.measured_at),
                           stored.timed - kept});
    if (stored.trials > stored.timed) {
        plan.pruned.push_back({std::string(stored_untimed_rule),
                               fmt::format("had no time when the others were measured on {}", stored.measured_at),
                               stored.trials - stored.timed});
    }
    return plan;
}

std::vector<DeviceWinners> newest_winners(std::vector<StoredProblem> stored, const StoreFilter& filter) {
    std::map<std::tuple<Backend, std::string, std::string, int>, DeviceRows> devices;  // a part of a device is another one
    for (StoredProblem& row : stored) {
        if (!asked_for(row, filter)) {
            continue;
        }
        devices[std::tuple(row.identity.backend, row.identity.device, row.identity.arch, row.identity.compute_units)].add(std::move(row));
    }
    std::vector<DeviceWinners> out;
    out.reserve(devices.size());
    for (auto& [device, rows] : devices) {
        out.push_back(winners_of(std::move(rows)));
    }
    return out;
}

}  // namespace normtune
