// How a configuration's kernels are launched.
#pragma once

#include "problem/problem.h"
#include "space/configuration.h"
#include "space/device_info.h"
#include "trial/launch_plan.h"

namespace normtune::gpu {

/// The configuration must be expressible (limits.h). eps is read from the problem.
LaunchPlan launch_plan(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

}  // namespace normtune::gpu
