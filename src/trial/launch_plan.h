// How kernels are launched: which ones, in which order, with what grid, memory and arguments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace normtune::gpu {

enum class ArgumentType { pointer, int64, int32, fp32 };
inline constexpr NameTable<ArgumentType, 4> argument_type_names{{"pointer", "int64", "int32", "fp32"}};

inline constexpr std::size_t most_arguments = 64;

/// One kernel argument, in order. A pointer is a tensor's, a place in the workspace, or null (a tensor that the problem
/// does not have); the others carry their value.
struct Argument {
    enum class Source { tensor, workspace, null, value };
    std::string name;  // as in the kernel's source
    ArgumentType type = ArgumentType::pointer;
    Source source = Source::null;
    TensorRole tensor = TensorRole::x;  // Source::tensor
    std::int64_t integer = 0;           // int32, int64; Source::workspace: bytes from the workspace's start
    float real = 0;                     // fp32
};

struct Launch {
    std::string kernel;  // extern "C" name in the source
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<int, 3> block{1, 1, 1};    // at most 1024 each
    std::array<int, 3> cluster{1, 1, 1};  // programs that share a cluster, at most 16 (sm_90 and later)
    std::int64_t shared_bytes = 0;        // dynamic
    bool cooperative = false;             // all programs must be resident at once: launch it as a cooperative kernel
    bool overlaps = false;                // may start while the launch before it still runs: it waits for what that one
                                          // writes itself (sm_90 and later, programmatic stream serialization)
    std::vector<Argument> arguments;

    std::int64_t programs() const { return grid[0] * grid[1] * grid[2]; }
    bool in_clusters() const { return cluster != std::array<int, 3>{1, 1, 1}; }
    int cluster_programs() const { return cluster[0] * cluster[1] * cluster[2]; }
    int threads() const { return block[0] * block[1] * block[2]; }
};

struct LaunchPlan {
    std::vector<Launch> launches;      // in stream order
    std::int64_t workspace_bytes = 0;  // zeroed before the first launch ever; each launch leaves it ready for the next
};

}  // namespace normtune::gpu
