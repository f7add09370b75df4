// What one launch of a CpuKernel holds while it runs.
#pragma once

#include "devices/cpu/cpu_kernel.h"

namespace normtune::cpu {

inline std::byte* at(const TensorPointers& tensors, TensorRole role) {
    return tensors[static_cast<std::size_t>(role)];
}

struct CpuKernel::ThreadSpace {
    float* gamma = nullptr;
    float* scratch_x = nullptr;
    float* scratch_m = nullptr;
    float* dgamma = nullptr;  // of the last rows
    float* dgamma_total = nullptr;
    const float* ones = nullptr;
    std::int64_t rows_summed = 0;

    /// Columns [begin, end). Within a pair of vectors the passes keep their own order, so whole pairs are folded.
    void fold(std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t most_lanes = 32;
        const std::int64_t whole = (end + most_lanes - 1) / most_lanes * most_lanes;
        for (std::int64_t c = begin; c < whole; ++c) {
            dgamma_total[c] += dgamma[c];
            dgamma[c] = 0;
        }
        rows_summed = 0;
    }
};

struct CpuKernel::Launch {
    Team& team;
    TensorPointers tensors;
    alignas(64) std::atomic<std::int64_t> next_forward;  // programs that nobody has taken
    alignas(64) std::atomic<std::int64_t> next_backward;
    alignas(64) std::atomic<std::int64_t> next_split;
};

}  // namespace normtune::cpu
