// An AMD GPU's clock, from the amdgpu driver's files.
#pragma once

#include <string>

#include "devices/gpu/clocks.h"

namespace normtune::hip {

/// Of the device with this PCI bus id ("0000:c1:00.0"); nothing where the kernel has no such file. `root`: /sys, or a
/// test's. Source: Linux kernel, amdgpu thermal and power interfaces (freq1_input: compute clock in hertz).
gpu::ClockState read_clocks(const std::string& pci_bus_id, const std::string& root);

/// "6.10.5": the amdgpu driver's own version; empty for the one that comes with the kernel.
std::string amdgpu_version(const std::string& root);

}  // namespace normtune::hip
