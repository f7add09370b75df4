// What a vendor's folder brings to be a GPU backend; all else is the same for every vendor.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "devices/gpu/driver.h"
#include "devices/gpu/toolchain.h"
#include "devices/registry.h"

namespace normtune::gpu {

/// A well-known device, for planning and compiling with none here.
struct PlannedDevice {
    const char* arch;
    const char* name;
    int warp_size;
    int compute_units;
    int threads_per_unit;     // resident at once
    std::int64_t shared_kib;  // of a program
    std::int64_t cache_mib;   // the last-level one
    std::int64_t memory_gib;
    bool has_async_copy;
};

struct Vendor {
    Backend backend;
    /// The loaded and initialised driver; null where there is none, and why in one line.
    const Driver* (*load)(std::string& why_not);
    const char* sees_no_device;  // what to look at where the driver is here and no device
    /// Architecture and driver version, and what the driver's common part does not tell rightly. Throws DeviceError.
    void (*complete)(DeviceId device, DeviceInfo& info);
    std::string (*no_compiler)();  // empty: there is one
    /// Throws InputError.
    Toolchain (*toolchain)(const std::string& arch);
    ClockState (*clocks)(const std::string& pci_bus_id);
    std::span<const PlannedDevice> planned;
};

BackendRow backend_row(const Vendor& vendor);

}  // namespace normtune::gpu
