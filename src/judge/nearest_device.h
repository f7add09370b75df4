// Winners for an architecture that nobody measured: those of the nearest device, with what speaks against them. Pure. docs/best.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "space/device_info.h"
#include "store/results.h"

namespace normtune {

/// What the proposed winners lose on another device of the results.
struct LossElsewhere {
    DeviceInfo device;
    std::size_t judged = 0;  // problems that both have, and where the winner was measured
    std::size_t both = 0;    // problems that both have
    double mean = 0;
    double worst = 0;
};

struct Proposal {
    std::string arch;                 // that it is for
    std::optional<DeviceInfo> known;  // a device of it, as planning knows one
    DeviceInfo nearest;
    bool measured = false;  // the nearest is of that very architecture
    std::size_t devices = 0;
    std::vector<Results> runs;       // of the nearest; without what cannot run on `known`, the best of the rest ranked first
    std::size_t problems = 0;        // with a winner, before that
    std::size_t replaced = 0;        // whose winner cannot run there
    std::size_t of_others = 0;       // proposed for `known` that are other providers' kernels: whether they run there is not looked at
    std::vector<std::string> empty;  // keys of problems of which nothing that was measured can
    std::vector<LossElsewhere> elsewhere;
    std::vector<std::string> alike;  // names of further devices of that very architecture, whose winners are not among these

    /// One paragraph each: whose the winners are, and the risk.
    std::vector<std::string> text() const;
};

/// `devices`: runs of one device each. Nearest by compute units, shared memory and cache where `known` has them, each by its ratio, then by
/// the architecture's number. Throws InputError: the word is no architecture, or none of the devices is of its kind (sm_…, gfx…, a CPU's).
Proposal propose(std::vector<std::vector<Results>> devices, const std::string& arch, const std::optional<DeviceInfo>& known);

}  // namespace normtune
