#include "devices/cuda/driver_api.h"

#include <array>

#include <fmt/format.h>

#include "support/dynamic_library.h"

namespace normtune::cuda {

namespace {

struct LoadedDriver {
    Driver table{};
    std::string why_not;
    bool usable = false;
};

LoadedDriver load() {
    LoadedDriver loaded;
    const std::array<std::string, 3> candidates{"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                                "/usr/local/nvidia/lib64/libcuda.so.1"};
    const DynamicLibrary library(candidates);
    if (!library.is_open()) {
        loaded.why_not =
            fmt::format("no NVIDIA driver: {}; install the NVIDIA driver for this kernel", library.why_not());
        return loaded;
    }
    Driver& d = loaded.table;
    std::string missing;
    library.load(d.init, "cuInit", missing);
    library.load(d.driver_get_version, "cuDriverGetVersion", missing);
    library.load(d.get_error_name, "cuGetErrorName", missing);
    library.load(d.get_error_string, "cuGetErrorString", missing);
    library.load(d.device_get, "cuDeviceGet", missing);
    library.load(d.device_get_count, "cuDeviceGetCount", missing);
    library.load(d.device_get_name, "cuDeviceGetName", missing);
    library.load(d.device_get_pci_bus_id, "cuDeviceGetPCIBusId", missing);
    library.load(d.device_get_attribute, "cuDeviceGetAttribute", missing);
    library.load(d.device_total_memory, "cuDeviceTotalMem_v2", missing);
    library.load(d.primary_context_retain, "cuDevicePrimaryCtxRetain", missing);
    library.load(d.context_set_current, "cuCtxSetCurrent", missing);
    library.load(d.context_synchronize, "cuCtxSynchronize", missing);
    library.load(d.memory_get_info, "cuMemGetInfo_v2", missing);
    library.load(d.memory_alloc, "cuMemAlloc_v2", missing);
    library.load(d.memory_free, "cuMemFree_v2", missing);
    library.load(d.memory_host_alloc, "cuMemHostAlloc", missing);
    library.load(d.memory_host_get_device_pointer, "cuMemHostGetDevicePointer_v2", missing);
    library.load(d.memory_free_host, "cuMemFreeHost", missing);
    library.load(d.copy_to_device, "cuMemcpyHtoD_v2", missing);
    library.load(d.copy_to_host, "cuMemcpyDtoH_v2", missing);
    library.load(d.copy_on_device_async, "cuMemcpyDtoDAsync_v2", missing);
    library.load(d.set_u32_async, "cuMemsetD32Async", missing);
    library.load(d.module_load_data, "cuModuleLoadData", missing);
    library.load(d.module_unload, "cuModuleUnload", missing);
    library.load(d.module_get_function, "cuModuleGetFunction", missing);
    library.load(d.function_get_attribute, "cuFuncGetAttribute", missing);
    library.load(d.function_set_attribute, "cuFuncSetAttribute", missing);
    library.load(d.occupancy_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", missing);
    library.load(d.launch_kernel, "cuLaunchKernelEx", missing);
    library.load(d.stream_create, "cuStreamCreate", missing);
    library.load(d.stream_synchronize, "cuStreamSynchronize", missing);
    library.load(d.stream_wait_value32, "cuStreamWaitValue32_v2", missing);
    library.load(d.stream_begin_capture, "cuStreamBeginCapture_v2", missing);
    library.load(d.stream_end_capture, "cuStreamEndCapture", missing);
    library.load(d.event_create, "cuEventCreate", missing);
    library.load(d.event_record, "cuEventRecord", missing);
    library.load(d.event_synchronize, "cuEventSynchronize", missing);
    library.load(d.event_elapsed_ms, "cuEventElapsedTime", missing);
    library.load(d.event_destroy, "cuEventDestroy_v2", missing);
    library.load(d.graph_instantiate, "cuGraphInstantiateWithFlags", missing);
    library.load(d.graph_launch, "cuGraphLaunch", missing);
    library.load(d.graph_exec_destroy, "cuGraphExecDestroy", missing);
    library.load(d.graph_destroy, "cuGraphDestroy", missing);
    if (!missing.empty()) {
        loaded.why_not = fmt::format("the NVIDIA driver is too old: {} has no {}; CUDA 11.8 or newer is needed",
                                     library.path(), missing);
        return loaded;
    }
    if (const Result result = d.init(0); result != success) {
        loaded.why_not = fmt::format("the NVIDIA driver does not start: {}", describe(d, result));
        return loaded;
    }
    loaded.usable = true;
    return loaded;
}

}  // namespace

const Driver* load_driver(std::string& why_not) {
    static const LoadedDriver loaded = load();
    why_not = loaded.why_not;
    return loaded.usable ? &loaded.table : nullptr;
}

std::string describe(const Driver& driver, Result result) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.get_error_name(result, &name) != success || driver.get_error_string(result, &text) != success) {
        return fmt::format("CUDA error {}", result);
    }
    return fmt::format("{} ({})", name, text);
}

void check(const Driver& driver, Result result, DeviceFault fault, const char* doing) {
    if (result != success) {
        throw DeviceError(result == error_out_of_memory ? DeviceFault::out_of_memory : fault,
                          fmt::format("{}: {}", doing, describe(driver, result)));
    }
}

}  // namespace normtune::cuda
