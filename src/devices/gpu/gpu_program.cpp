#include "devices/gpu/gpu_program.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "devices/gpu/gpu_kernel.h"

namespace normtune::gpu {
namespace {

class GpuMemory final : public DeviceMemory {
public:
    GpuMemory(const Driver& driver, std::int64_t bytes)
        : driver_(driver), memory_(gpu::allocate(driver, bytes, "verifying on the device")) {}
    std::uint64_t address() const override { return memory_.get(); }
    void write(std::span<const std::byte> bytes) override {
        check(driver_, driver_.copy_to_device(memory_.get(), bytes.data(), bytes.size()), DeviceFault::launch_failed,
              "copying to the device");
    }
    void read(std::span<std::byte> bytes) const override {
        check(driver_, driver_.copy_to_host(bytes.data(), memory_.get(), bytes.size()), DeviceFault::launch_failed,
              "verifying on the device");
    }

private:
    const Driver& driver_;
    OwnedMemory memory_;
};

}  // namespace

std::unique_ptr<DeviceMemory> GpuProgram::allocate(std::int64_t bytes) {
    return std::make_unique<GpuMemory>(driver_, bytes);
}

void GpuProgram::launch(const char* kernel, std::int64_t programs, std::span<const std::uint64_t> arguments) {
    std::vector<std::uint64_t> values(arguments.begin(), arguments.end());
    std::vector<void*> pointers;
    for (std::uint64_t& value : values) {
        pointers.push_back(&value);
    }
    const std::string definition = fmt::format(" {}(", kernel);
    const auto part = std::ranges::find_if(parts_, [&](const Part& one) { return one.source.find(definition) != std::string::npos; });
    if (part == parts_.end()) {
        throw std::logic_error(fmt::format("no part of the program has a kernel {}", kernel));
    }
    launch_plain(driver_, function_of(driver_, part->module, kernel), programs, 256, pointers.data(), stream_);
}

}  // namespace normtune::gpu
