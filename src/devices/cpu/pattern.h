// Random values to fill buffers with: drawn once for each type, then copied to many places with different offsets,
// since a rotation of gigabytes would otherwise take longer to fill than to measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/cpu/thread_pool.h"
#include "problem/operation.h"

namespace normtune::cpu {

class Pattern {
public:
    /// Bytes; a multiple of 64.
    std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
    const std::byte* data() const { return bytes_.data(); }
    bool empty() const { return bytes_.empty(); }

    /// N(mean, deviation²) in `dtype`.
    static Pattern normal(Team& team, Dtype dtype, float mean, float deviation, std::uint64_t seed);

private:
    std::vector<std::byte> bytes_;
};

/// A number that looks random, from a counter (SplitMix64's output function).
std::uint64_t mixed(std::uint64_t counter);

/// Writes `count` values of N(mean, deviation²) in `dtype`; value i depends on (seed, first + i) alone. `first` is
/// even.
void fill_normal(std::byte* out, Dtype dtype, std::int64_t first, std::int64_t count, float mean, float deviation, std::uint64_t seed);

}  // namespace normtune::cpu
