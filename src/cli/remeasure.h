// Fresh measurements of trials that other results have: what gate --confirm rests on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/device_options.h"
#include "cli/selection_options.h"
#include "store/results.h"

namespace normtune::cli {

struct TrialKey {
    std::string problem;
    std::string configuration;
};

/// Sweeps exactly these trials on the device, in folders that are removed again. Throws InputError: keys that are not
/// normtune's. Trials of one configuration share a sweep.
Results remeasure(const std::vector<TrialKey>& trials, const DeviceChoice& device, bool cold, bool quiet);

}  // namespace normtune::cli
