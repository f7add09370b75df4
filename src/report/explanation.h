// What `normtune explain` says: a configuration axis by axis, in words, and how it is launched on a problem.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"
#include "report/sections.h"
#include "space/axes.h"
#include "space/device_info.h"
#include "trial/launch_plan.h"

namespace normtune {

/// Each part of the key with its axes; those at their defaults, which the key leaves out, in the note.
std::vector<Section> explain_configuration(const Configuration& configuration);
/// The tunables of another provider's key. Empty table: it has none.
std::vector<Section> explain_key(std::string_view identity);

/// What a program does and how many there are; the configuration must be expressible on the device.
Section explain_on(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);
/// A line a launch: grid, threads, shared memory.
Section explain_launches(std::string title, const gpu::LaunchPlan& plan);

/// The table of axes, and what each named value does.
std::vector<Section> list_axes();

}  // namespace normtune
