// A configuration's CUDA code: the options that make it, and what the compiler says of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/code_compiler.h"
#include "devices/cuda/compiler.h"
#include "kernels/gpu/launch_plan.h"

namespace normtune::cuda {

/// The one GPU source's options for NVRTC, the architecture left out.
std::vector<std::string> compile_options(const Configuration& configuration, const Problem& problem,
                                         const DeviceInfo& device);

/// The plan's launch whose figures are told: the backward kernel, else the forward one.
const gpu::Launch& main_launch(const gpu::LaunchPlan& plan);

/// Registers of a kernel by the compiler's log (ptxas -v); 0 where the log does not have it.
int registers_of(std::string_view log, std::string_view kernel);

/// Registers, shared memory and the occupancy computed from them are the main launch's, spilled bytes the most of any.
CompileInfo compile_info(const Compiler::Result& compiled, const gpu::LaunchPlan& plan, const DeviceInfo& device);

/// Programs of `threads` threads that a multiprocessor holds at once. Registers are given to warps by the 256, 1 KiB of
/// shared memory a program is the system's: CUDA C++ Programming Guide, technical specifications per compute
/// capability.
int programs_per_multiprocessor(const std::string& arch, std::int64_t shared_bytes_per_program, int threads,
                                int registers, std::int64_t shared_bytes);
int threads_per_multiprocessor(const std::string& arch);

/// Throws InputError: no NVRTC, or one that does not know the device's architecture.
std::unique_ptr<CodeCompiler> open_compiler(const DeviceInfo& device);

}  // namespace normtune::cuda
