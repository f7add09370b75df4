// CUDA source to machine code with NVRTC, loaded at run time. Needs no GPU. Safe to use from several threads at once.
#pragma once

#include <string>
#include <vector>

#include "devices/compile/compile_cache.h"

namespace normtune::cuda {

/// The NVRTC library's version ("13.0"); empty where there is none, and `why_not` says what would mend it. It is
/// looked for by soname, below CUDA_HOME, CUDA_PATH and /usr/local/cuda, and where pip installs it.
std::string nvrtc_version(std::string& why_not);

/// "NVRTC 13.0".
std::string nvrtc_name();

/// Does the library take "--minimal" (from 12.4 on)?
bool nvrtc_knows_minimal();

/// The architectures that the library compiles for, e.g. {75, 80, …, 90, 100}; empty where there is no library.
std::vector<int> nvrtc_architectures();

/// Where the headers of the library's toolkit are (cuda_bf16.h); empty: nowhere that is looked at.
std::vector<std::string> nvrtc_header_folders();

/// Compiles to a cubin for job.arch ("sm_90"). Throws DeviceError: unsupported (no library, or it does not know the
/// architecture), compile_failed (with the compiler's first error line).
CompiledCode nvrtc_compile(const CompileJob& job);

}  // namespace normtune::cuda
