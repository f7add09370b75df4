// Times launches from inside the thread pool.
#pragma once

#include "devices/cpu/cpu_buffers.h"
#include "devices/device.h"

namespace normtune::cpu {

/// Called by the pool's first thread. `kernel` is null for copies and empty regions; else it is prepared.
SampleBatch take_samples(Team& team, CpuKernel* kernel, CpuBuffers& buffers, const SampleRequest& request);

}  // namespace normtune::cpu
