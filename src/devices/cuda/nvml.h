// Clocks and throttle reasons from NVML, and its lock of a clock; loaded at run time. A machine without it has none, and measuring goes on.
#pragma once

#include <string>

#include "devices/gpu/driver.h"

namespace normtune::cuda {

/// Of the device with this PCI bus id ("00000000:01:00.0").
gpu::ClockState read_clocks(const std::string& pci_bus_id);

/// Locks the clock of the device's multiprocessors, for all processes and until it is unlocked. Why it did not, in one line;
/// empty: it did.
std::string lock_clock(const std::string& pci_bus_id, int mhz);
bool unlock_clock(const std::string& pci_bus_id);

/// "580.95.05"; empty where NVML is missing, and `why_not` says why.
std::string nvml_driver_version(std::string& why_not);

}  // namespace normtune::cuda
