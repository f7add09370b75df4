// How a configuration's kernels are launched: which ones, in which order, with what grid, memory and arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune::gpu {

enum class ArgumentType { pointer, int64, int32, fp32 };

/// One kernel argument, in order. A pointer is a tensor's, a place in the workspace, or null (a tensor that the problem
/// does not have); the others carry their value.
struct Argument {
    enum class Source { tensor, workspace, null, value };
    std::string_view name;  // as in the kernel's source
    ArgumentType type = ArgumentType::pointer;
    Source source = Source::null;
    TensorRole tensor = TensorRole::x;  // Source::tensor
    std::int64_t integer = 0;           // int32, int64; Source::workspace: bytes from the workspace's start
    float real = 0;                     // fp32
};

struct Launch {
    std::string kernel;  // extern "C" name in the source
    std::int64_t grid_x = 1;
    std::int64_t grid_y = 1;
    int block = 1;                  // threads
    std::int64_t shared_bytes = 0;  // dynamic
    bool cooperative = false;       // all programs must be resident at once: launch it as a cooperative kernel
    bool overlaps = false;          // may start while the launch before it still runs: it waits for what that one
                                    // writes itself (sm_90 and later, programmatic stream serialization)
    std::vector<Argument> arguments;
};

struct LaunchPlan {
    std::vector<Launch> launches;      // in stream order
    std::int64_t workspace_bytes = 0;  // zeroed before the first launch ever; each launch leaves it ready for the next
};

/// The configuration must be expressible (limits.h). eps is read from the problem.
LaunchPlan launch_plan(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

}  // namespace normtune::gpu
