// The compute units' clock held where it was asked for, and given back whatever becomes of this process.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "support/descriptor.h"

namespace normtune::cuda {

/// A process of its own (`executable clock-lock …`, which ignores what a terminal sends) locks the clock, waits for the end of
/// this object or of this process, and gives it back.
class ClockLock {
public:
    /// Throws InputError: the driver does not let us, or does not know the clock; SystemError: no process.
    ClockLock(const std::string& executable, std::string pci_bus_id, int mhz);
    ~ClockLock();
    ClockLock(const ClockLock&) = delete;
    ClockLock& operator=(const ClockLock&) = delete;
    pid_t keeper() const { return keeper_; }

private:
    std::string pci_bus_id_;
    Descriptor keeper_end_;  // its end tells the keeper
    pid_t keeper_ = -1;
};

/// This process as a keeper: its exit status; nothing where the command line is not one's.
std::optional<int> run_as_clock_keeper(int argc, char** argv);

}  // namespace normtune::cuda
