// Limits that hold on every backend: combinations that mean nothing, and combinations that are another one by a second
// name. They apply before a backend's own. What each coordinate means: configuration.h.
#pragma once

#include <cstdint>
#include <vector>

#include "space/backend_traits.h"
#include "space/space.h"

namespace normtune {

/// The value that stands for an axis where it makes no difference: its default where the space lists it, else the
/// first that the space lists. So a kept configuration's key does not depend on the order of a list with the default in
/// it.
int canonical_value(const SearchSpace& space, Axis axis);

/// Inert axes of a backend as limits: "cpu.vector_bytes" keeps the canonical value alone.
std::vector<BackendLimit> inert_limits(const SearchSpace& space, const BackendTraits& traits);

/// "invalid.NAME" and "redundant.NAME". A limit about an axis that the backend holds inert is left out.
std::vector<BackendLimit> common_limits(const SearchSpace& space, const BackendTraits& traits);

/// May `reduction` be `even`: do a row's threads, and its blocks, divide the columns?
bool divides_evenly(const Configuration& configuration, const Problem& problem, const BackendTraits& traits);

/// Does each program hand its sums on before it writes its last rows' dx, if they are in registers?
bool publishes(DgammaMethod method);

bool persistent(const Configuration& configuration);
bool has_dgamma(const Problem& problem);
/// Is there a backward whose incoming ds waits, as whole rows, in shared memory (or comes directly instead)?
bool stages_ds(const Configuration& configuration, const Problem& problem);
std::int64_t rows_side_by_side(const Configuration& configuration, const DeviceInfo& device);
/// Bytes of a thread's access: vector_bytes, or less where rows do not start at its multiples; one element at the least.
int access_bytes(int vector_bytes, const Problem& problem);

/// Compute units that a persistent grid is made for: those of the device less unit_margin, at least one.
std::int64_t units_in_use(const Configuration& configuration, const DeviceInfo& device);

/// Of `units`, those that clusters find a place on. A cluster lies within a GPC, so that those of more than two programs do not reach every
/// unit; GPCs differ from device to device, and 12 units are left out for it.
std::int64_t units_reached(const Configuration& configuration, std::int64_t units);

/// Programs of a persistent grid at most, a cluster counted as one: what finds a place at once.
std::int64_t most_persistent_programs(const Configuration& configuration, const DeviceInfo& device);
/// As few programs as, with `most`, take no more of `groups` groups of rows each.
constexpr std::int64_t balanced_programs(std::int64_t groups, std::int64_t most) {
    const std::int64_t each = (groups + most - 1) / most;
    return (groups + each - 1) / each;
}
/// Programs of a persistent grid over `groups` groups of rows.
std::int64_t persistent_programs(const Configuration& configuration, std::int64_t groups, const DeviceInfo& device);
/// Programs that a strided grid has on top of a balanced one's.
std::int64_t spare_programs(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

/// Steps that one program takes one after another, at most, on this problem: each of the rows side by side, tile_rows of them by each
/// group.
std::int64_t serial_passes(const Configuration& configuration, const Problem& problem, const DeviceInfo& device);

}  // namespace normtune
