#include "devices/cuda/cuda_device.h"

#include "devices/cuda/code.h"
#include "devices/cuda/discovery.h"
#include "devices/cuda/driver_api.h"
#include "devices/cuda/nvml.h"
#include "devices/gpu/gpu_device.h"

namespace normtune::cuda {

std::unique_ptr<Device> open_cuda_device(int ordinal) {
    std::string why_not;
    const gpu::Driver* driver = load_driver(why_not);
    if (driver == nullptr) {
        throw DeviceError(DeviceFault::unsupported, why_not);
    }
    DeviceInfo info = describe_cuda_device(ordinal);
    gpu::Toolchain tools = toolchain(info.arch);
    return gpu::open_device({*driver, std::move(info), std::move(tools), read_clocks});
}

}  // namespace normtune::cuda
