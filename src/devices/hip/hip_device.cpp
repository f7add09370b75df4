#include "devices/hip/hip_device.h"

#include "devices/gpu/gpu_device.h"
#include "devices/hip/clocks.h"
#include "devices/hip/code.h"
#include "devices/hip/discovery.h"
#include "devices/hip/runtime_api.h"

namespace normtune::hip {

std::unique_ptr<Device> open_hip_device(int ordinal) {
    std::string why_not;
    const gpu::Driver* driver = load_runtime(why_not);
    if (driver == nullptr) {
        throw DeviceError(DeviceFault::unsupported, why_not);
    }
    DeviceInfo info = describe_hip_device(ordinal);
    gpu::Toolchain tools = toolchain(info.arch);
    return gpu::open_device({*driver, std::move(info), std::move(tools), [](const std::string& bus) { return read_clocks(bus, "/sys"); }});
}

}  // namespace normtune::hip
