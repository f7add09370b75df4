// Code of verification's own on a GPU.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "devices/device.h"
#include "devices/gpu/owned.h"

namespace normtune::gpu {

class GpuProgram final : public DeviceProgram {
public:
    /// A part of the code, which has the kernels whose definitions stand in its source.
    struct Part {
        std::string source;
        OwnedModule module;
    };
    GpuProgram(const Driver& driver, std::vector<Part> parts, Stream stream) : driver_(driver), stream_(stream), parts_(std::move(parts)) {}
    std::unique_ptr<DeviceMemory> allocate(std::int64_t bytes) override;
    void launch(const char* kernel, std::int64_t programs, std::span<const std::uint64_t> arguments) override;

private:
    const Driver& driver_;
    Stream stream_;  // copies through the null stream wait for it
    std::vector<Part> parts_;
};

}  // namespace normtune::gpu
