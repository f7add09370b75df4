// A GPU behind its driver's table: kernels compiled ahead, launched and timed. Used in a worker process only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "devices/device.h"
#include "devices/gpu/driver.h"
#include "devices/gpu/toolchain.h"

namespace normtune::gpu {

/// What a vendor brings.
struct Platform {
    const Driver& driver;
    DeviceInfo info;
    Toolchain toolchain;
    std::function<ClockState(const std::string& pci_bus_id)> clocks;
};

/// Throws DeviceError: the device does not start.
std::unique_ptr<Device> open_device(Platform platform);

}  // namespace normtune::gpu
