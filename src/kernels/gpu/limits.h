// What the GPU source cannot express, and why: data for planning, and the same checks for one configuration.
#pragma once

#include <string>
#include <vector>

#include "space/backend_traits.h"

namespace normtune::gpu {

/// Limits of CUDA and HIP devices, beyond those that hold on every backend ("gpu.shared_bytes", …). `admits` reads the
/// device's sizes, so one list serves all architectures.
std::vector<BackendLimit> gpu_limits();

/// The reason why the configuration cannot be compiled for the problem, or an empty string. Everything is checked,
/// also what planning has checked before: shapes that verification derives have been planned by nobody.
std::string objection(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// sm_90 and later: a launch may begin before the one ahead of it has ended (programmatic dependent launch), and programs share clusters.
bool has_sm_90(const DeviceInfo& device);
/// Single accesses may say how long the L2 keeps their lines: from sm_80 on, as asynchronous copies.
bool has_l2_policies(const DeviceInfo& device);

/// Registers a thread that rows, gamma and sums take in the widest of the problem's kernels: an estimate from below,
/// without what the compiler needs for addresses and temporaries.
int held_registers(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// The program count that the compiler is asked to leave registers for (launch bounds).
int least_resident_programs(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

}  // namespace normtune::gpu
