// Times launches: of our own kernels from inside the thread pool.
#pragma once

#include <functional>

#include "devices/cpu/cpu_buffers.h"
#include "devices/device.h"

namespace normtune::cpu {

/// Called by the pool's first thread. `kernel` is null for copies and empty regions; else it is prepared.
SampleBatch take_samples(Team& team, CpuKernel* kernel, CpuBuffers& buffers, const SampleRequest& request);

struct Launching {
    std::function<void(int set)> launch;
    std::function<void(int set)> restore;                            // an input that launches wrote over; not timed
    std::function<void(int first, int launches)> prepare = nullptr;  // before launches on these sets; not timed
};

/// `threads` that a launch keeps busy.
SampleBatch take_samples(CpuBuffers& buffers, const SampleRequest& request, int threads, const Launching& launching);

}  // namespace normtune::cpu
