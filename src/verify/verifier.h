// Proves a candidate correct on a device, before it is timed and after.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "devices/device.h"
#include "trial/verification.h"

namespace normtune {

/// The contract that a candidate is judged by: the one that its manifest states, or its problem's casting's.
RoundingContract contract_of(const Candidate& candidate, const Operation& operation);

/// Compiles in the background what verifying a problem of the operation needs besides the candidates.
void verify_ahead(Device& device, const Operation& operation);

/// Verifies candidates of one problem. What the oracle finds out about inputs is computed once a shape and kept for all of them.
/// Shapes verified: the problem's own, with a second launch on the workspace that the first one left; of a configuration, those
/// of companions.h as well. Shapes that a configuration cannot express (DeviceFault::unsupported, e.g. `even` on an odd N) are left
/// out, the problem's own never. Inputs are fresh from `seed`, outputs (and gaps) are poisoned before each run.
class Verifier {
public:
    Verifier(Device& device, const Problem& problem, std::uint64_t seed);
    ~Verifier();
    /// Passes DeviceError on.
    Verification verify(const Candidate& candidate);
    /// One more sample of a kernel that has been timed on `buffers`, over poisoned outputs of one of its sets, which `seed`
    /// picks: empty, or what is wrong there. In place, where launches have spoilt the inputs, a launch on
    /// verification's own buffers behind that sample, on the workspace that it left.
    std::string verify_timed(const Candidate& candidate, const Kernel& kernel, Buffers& buffers, bool cold, std::uint64_t seed);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace normtune
