// A GPU's compiler behind its pool, with the options that it takes and how its output is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/compile/code_compiler.h"
#include "devices/compile/compile_pool.h"
#include "kernels/gpu/launch_plan.h"

namespace normtune::gpu {

struct Toolchain {
    std::unique_ptr<CompilePool> pool;
    std::vector<std::string> options;  // of every compilation, beside the architecture
    /// Registers, shared memory and the occupancy computed from them are the main launch's, spilled bytes the most of
    /// any.
    CompileInfo (*compile_info)(const CompilePool::Result&, const LaunchPlan&, const DeviceInfo&);
    std::vector<std::string> header_folders = {};  // of the vendor, for sources of others
    std::vector<std::string> own_options = {};     // of the one GPU source alone
};

/// The one GPU source.
const SourceText& kernel_source();

/// The one GPU source's options for a configuration, the architecture left out.
std::vector<std::string> compile_options(const Toolchain& toolchain, const Configuration& configuration, const Problem& problem,
                                         const DeviceInfo& device);

/// Machine code, how it is launched, and what is known of it before it is loaded.
struct LoadableKernel {
    std::shared_ptr<const CompilePool::Result> compiled;
    LaunchPlan plan;
    CompileInfo info;
};

/// What a candidate runs on the problem. Throws DeviceError: unsupported, compile_failed.
LoadableKernel load_candidate(const Problem& problem, const Candidate& candidate, const Toolchain& toolchain, const DeviceInfo& device);
/// Queues what that would compile.
void compile_candidate_ahead(const Problem& problem, const Candidate& candidate, const Toolchain& toolchain, const DeviceInfo& device);

/// The plan's launch whose figures are told: the backward kernel, else the forward one.
const Launch& main_launch(const LaunchPlan& plan);

/// What is the same for every vendor: compile times, the code's hash, workspace, programs.
CompileInfo common_info(const CompilePool::Result& compiled, const LaunchPlan& plan);

/// Compiles for a device that need not be here.
std::unique_ptr<CodeCompiler> offline_compiler(const DeviceInfo& device, Toolchain toolchain);

}  // namespace normtune::gpu
