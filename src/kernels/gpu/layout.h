// How a configuration lays a problem out over a program: the numbers that macros, launch geometry and limits share.
// source/layout.gpu.h derives the same ones on the device; the kernels check the shared bytes against these.
#pragma once

#include <cstdint>

#include "problem/problem.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune::gpu {

/// Only for configurations whose basic sizes make sense (limits.h, basic_limits): otherwise counts may be 0.
struct RowLayout {
    int threads = 0;       // a program's
    int groups = 0;        // rows side by side
    int step_rows = 0;     // rows that a program takes in one step: groups · tile_rows
    int vector_bytes = 0;  // of one access: the configuration's, or less where rows do not start at its multiples
    int vector_elements = 0;
    int sweep_cols = 0;       // columns that one access of each of a row's threads covers, in all programs of its cluster
    int accesses = 0;         // of one thread, for one block
    int chunks = 0;           // blocks a row
    int row_accesses = 0;     // accesses · chunks
    bool async_copy = false;  // rows go through shared memory by asynchronous copies
    bool bulk = false;        // those are bulk copies
    int slots = 0;            // of shared memory, each with one step's rows
};

RowLayout row_layout(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// Are the rows of a step, side by side or held at once, one run of bytes in memory and in their slot?
bool rows_follow(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);
/// Columns from the first one of a cluster's program to that of the next.
std::int64_t program_cols(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// Dynamic shared memory of the forward or the backward kernel.
std::int64_t shared_bytes(const Configuration& configuration, const Problem& problem, const DeviceInfo& device, bool backward);
/// The larger of the two is all of them: what rows take, and what sums over columns of dgamma take after them, in the same place.
std::int64_t row_shared_bytes(const Configuration& configuration, const Problem& problem, const DeviceInfo& device, bool backward);
std::int64_t column_shared_bytes(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// Programs of the forward or backward kernel's grid, a cluster counted as one, and the rows that each is given (per_row: 1).
struct GridShape {
    std::int64_t programs = 0;
    std::int64_t rows_per_program = 0;
};
GridShape grid_shape(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// Does each step of the backward read its incoming ds into registers, past the slots?
bool reads_ds_directly(const Configuration& configuration, const Problem& problem);

/// Is dgamma summed by the backward kernel itself, and in memory because its rows come in several blocks?
bool sums_dgamma(const Configuration& configuration, const Problem& problem);
bool sums_in_memory(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);
/// Does the method have a kernel that sums partial rows (where there are several)?
bool has_reduce_kernel(DgammaMethod method);
/// Are gamma's gradients summed by programs of their own in the backward's launch? How many: a part of the rows of a tile of columns each,
/// and what fills the last `cluster` of them up.
std::int64_t programs_beside(const Configuration& configuration, const Problem& problem);
/// Column tiles and row parts of the `split` kernel.
struct SplitShape {
    std::int64_t tiles = 0;
    std::int64_t parts = 0;
};
SplitShape split_shape(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// fp32 rows of the workspace: partial sums, or the one row that atomics add to.
std::int64_t partial_rows(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// Of those who are done, in the workspace ahead of those rows: one of the launch, or of each tile of columns that programs beside sum in
/// parts.
std::int64_t launch_counters(const Configuration& configuration, const Problem& problem);

/// Most programs of the launch that can be resident at once on a compute unit, by its threads.
int resident_programs(const Configuration& configuration, const DeviceInfo& device);

}  // namespace normtune::gpu
