// A configuration's code for AMD: the options that make it, and what the code object says of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/code_compiler.h"

namespace normtune::hip {

/// The one GPU source's options, the architecture left out.
std::vector<std::string> compile_options(const Configuration& configuration, const Problem& problem,
                                         const DeviceInfo& device);

/// Programs of `threads` threads that a compute unit holds at once, by wavefronts, vector registers and LDS. Register
/// files and their allocation: LLVM, User Guide for AMDGPU Backend, and AMD's instruction set guides of CDNA 2, CDNA 3,
/// RDNA 2 and RDNA 3.
int programs_per_compute_unit(const std::string& arch, int warp_size, int threads, int registers,
                              std::int64_t shared_bytes);
/// That a compute unit holds at full occupancy.
int threads_per_compute_unit(const std::string& arch, int warp_size);

/// By hiprtc where it knows the architecture, else by clang. Throws InputError: neither is here, or none knows it.
std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device);

}  // namespace normtune::hip
