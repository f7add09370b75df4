// Proves a configuration correct on a device, before it is timed.
#pragma once

#include <cstdint>
#include <memory>

#include "devices/device.h"
#include "trial/verification.h"

namespace normtune {

/// Verifies configurations of one problem. References are computed once a shape and kept for all configurations.
/// Shapes verified: the problem's own; M = 1; rows that no whole tile covers; an N that no vector divides; a row stride
/// above N. Shapes that a configuration cannot express (DeviceFault::unsupported, e.g. `even` on an odd N) are left
/// out, the problem's own never. Inputs are fresh from `seed`, outputs (and gaps) are poisoned before each run.
class Verifier {
public:
    Verifier(Device& device, const Problem& problem, std::uint64_t seed);
    ~Verifier();
    /// Passes DeviceError on.
    Verification verify(const Candidate& candidate);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace normtune
