// Code of verification's own on a GPU.
#pragma once

#include <utility>
#include <vector>

#include "devices/device.h"
#include "devices/gpu/owned.h"

namespace normtune::gpu {

class GpuProgram final : public DeviceProgram {
public:
    GpuProgram(const Driver& driver, std::vector<OwnedModule> modules, Stream stream)
        : driver_(driver), stream_(stream), modules_(std::move(modules)) {}
    std::unique_ptr<DeviceMemory> allocate(std::int64_t bytes) override;
    void launch(const char* kernel, std::int64_t programs, std::span<const std::uint64_t> arguments) override;

private:
    const Driver& driver_;
    Stream stream_;  // copies through the null stream wait for it
    std::vector<OwnedModule> modules_;
};

}  // namespace normtune::gpu
