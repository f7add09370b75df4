// AMD's compilers for the one GPU source, and what their code objects say of its kernels.
#pragma once

#include <cstdint>
#include <string>

#include "devices/gpu/toolchain.h"

namespace normtune::hip {

/// Programs of `threads` threads that a compute unit holds at once, by wavefronts, vector registers and LDS. What HIP counts as one is
/// a compute unit of CDNA and a pair of them, the work-group processor, of RDNA, over whose four SIMDs a program may lie (AMD, HIP's
/// documentation: CU mode and WGP mode). Register files and their allocation: LLVM, User Guide for AMDGPU Backend and the
/// features of its targets, and AMD's instruction set guides of CDNA 2, CDNA 3, RDNA 2, RDNA 3 and RDNA 4.
int programs_per_compute_unit(const std::string& arch, int warp_size, int threads, int registers, std::int64_t shared_bytes);
/// That a compute unit holds at full occupancy.
int threads_per_compute_unit(const std::string& arch, int warp_size);

/// By hiprtc where it knows the architecture, else by clang. Throws InputError: neither is here, or none knows it.
gpu::Toolchain toolchain(const std::string& arch);

}  // namespace normtune::hip
