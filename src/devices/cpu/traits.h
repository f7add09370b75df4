// The planning side of the CPU backend: which axes mean something there, and what its kernels cannot express.
#pragma once

#include "space/backend_traits.h"

namespace normtune::cpu {

/// Pure: reads no machine. The device's warp_size (fp32 lanes of a vector) says which instruction set is meant.
BackendTraits cpu_traits();

/// A configuration's tile: rows side by side, and vectors in flight a row.
struct TileShape {
    int rows = 0;     // num_warps · lanes / threads_per_row; 0: not a whole number
    int vectors = 0;  // threads_per_row / lanes; 0: not a whole number
};
TileShape tile_shape(const Configuration& configuration, int lanes);

/// Columns that a row's vectors cover at once. A register holds twice as many 16-bit elements, which become two vectors
/// of fp32: then each of the row's threads has two neighbouring columns.
int columns_at_once(const Configuration& configuration, Dtype dtype);

}  // namespace normtune::cpu
