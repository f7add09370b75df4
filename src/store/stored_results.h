// What the store of winners holds, as plans and results have it. Pure.
#pragma once

#include <string>
#include <vector>

#include "store/results.h"
#include "store/winner_store.h"

namespace normtune {

/// The plan of a problem whose trials are not run, because the store has them: its numbers still add up.
PlanSummary stored_plan(PlanSummary plan, const StoredProblem& stored);

/// Which part of a store is asked for; empty patterns ask for everything (support/pattern.h).
struct StoreFilter {
    std::string device;
    std::string arch;
    bool cold = true;
};

struct DeviceWinners {
    Results results;        // of one device: its name, architecture and backend
    std::size_t older = 0;  // problems that have more rows than the newest, which is taken
};

/// One a device, by backend and name; of each problem what was measured last, by op, mode, types, columns and rows. The environment is that
/// of the device's last measurement.
std::vector<DeviceWinners> newest_winners(std::vector<StoredProblem> stored, const StoreFilter& filter);

}  // namespace normtune
