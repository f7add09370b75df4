// Clocks and throttle reasons from NVML, loaded at run time; a machine without it has none, and measuring goes on.
#pragma once

#include <string>

#include "devices/gpu/driver.h"

namespace normtune::cuda {

/// Of the device with this PCI bus id ("00000000:01:00.0").
gpu::ClockState read_clocks(const std::string& pci_bus_id);

/// "580.95.05"; empty where NVML is missing, and `why_not` says why.
std::string nvml_driver_version(std::string& why_not);

}  // namespace normtune::cuda
