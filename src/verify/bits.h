// Compares the bits of what a candidate gives: of the same rows alone and in batches, and of dgamma from launch to launch.
#pragma once

#include <cstdint>
#include <memory>

#include "devices/device.h"
#include "trial/bits_check.h"

namespace normtune {

/// So many rows, whose values depend on the operation, N and the row stride alone: neither on M nor on the run's seed. What they
/// give has one digest, which records of other configurations, other M and other runs can be compared by.
inline constexpr std::int64_t fixed_rows = 32;
/// dgamma of so many launches is compared.
inline constexpr int repeated_launches = 8;

/// Serves all candidates of a problem; inputs and buffers are made once a shape. A batch's rows are the fixed rows over and over,
/// each at changing places of a tile. Of a configuration batches are M = 1, a prime number of rows (companions.h) and the problem's
/// own M; another provider's kernel has its own M alone, where rows are compared with each other.
class BitsComparer {
public:
    BitsComparer(Device& device, const Problem& problem);
    ~BitsComparer();
    /// The candidate has passed verification. Passes DeviceError on.
    BitsCheck compare(const Candidate& candidate);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace normtune
