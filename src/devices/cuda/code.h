// CUDA's compiler for the one GPU source, and what it says of its kernels.
#pragma once

#include <string>
#include <string_view>

#include "devices/gpu/toolchain.h"

namespace normtune::cuda {

/// What a kernel uses by the compiler's log (ptxas -v); 0 where the log does not have it.
struct KernelUse {
    int registers = 0;
    int shared_bytes = 0;  // static
};
KernelUse use_of(std::string_view log, std::string_view kernel);

/// Programs of `threads` threads that a multiprocessor of `most_threads` holds at once. Registers are given to warps by the 256, 1 KiB of
/// shared memory a program is the system's: CUDA C++ Programming Guide, technical specifications per compute
/// capability.
int programs_per_multiprocessor(int most_threads, std::int64_t shared_bytes_per_program, int threads, int registers,
                                std::int64_t shared_bytes);

/// Throws InputError: no NVRTC, or one that does not know the architecture.
gpu::Toolchain toolchain(const std::string& arch);

}  // namespace normtune::cuda
