#include "devices/hip/runtime_api.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "support/dynamic_library.h"

namespace normtune::hip {

namespace {

using gpu::DeviceId;
using gpu::DevicePointer;
using gpu::Driver;
using gpu::Function;
using gpu::Result;
using gpu::Stream;

constexpr Result not_supported = 801;  // hipErrorNotSupported

/// What has another shape than the table's functions.
struct Hip {
    Result (*init)(unsigned flags);
    Result (*runtime_get_version)(int* version);
    const char* (*get_error_name)(Result);
    const char* (*get_error_string)(Result);
    Result (*device_get_attribute)(int* value, int attribute, DeviceId);
    Result (*get_device_properties)(void* properties, DeviceId);
    Result (*module_launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, Stream, void** arguments, void** extra);
    Result (*module_launch_cooperative_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                               unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream, void** arguments);
    Result (*stream_wait_value32)(Stream, DevicePointer, std::uint32_t value, unsigned flags, std::uint32_t mask);
};

/// hipDeviceProp_t: ROCm 6 gave it another layout under another symbol.
struct PropertiesLayout {
    std::size_t architecture_at;  // gcnArchName, 256 bytes
};
constexpr PropertiesLayout layout_5{396};
constexpr PropertiesLayout layout_6{1160};
constexpr std::size_t properties_bytes = 4096;  // more than either has: 792, 1472
constexpr std::size_t architecture_bytes = 256;

struct LoadedRuntime {
    Driver table{};
    Hip hip{};
    PropertiesLayout layout{};
    std::string why_not;
    bool usable = false;
};

const LoadedRuntime& loaded_runtime();

const Hip& hip() {
    return loaded_runtime().hip;
}

std::string describe_with(const Hip& api, Result result) {
    const std::string_view name = api.get_error_name(result);
    const std::string_view text = api.get_error_string(result);
    return name == text ? std::string(name) : fmt::format("{} ({})", name, text);  // ROCm 5 has no text of some
}

std::string describe(Result result) {
    return describe_with(hip(), result);
}

/// hipDeviceAttribute_t; the same numbers since ROCm 5.
int hip_attribute(gpu::Attribute attribute) {
    switch (attribute) {
        case gpu::Attribute::cache_bytes:
            return 19;  // L2CacheSize
        case gpu::Attribute::max_threads_per_program:
            return 56;  // MaxThreadsPerBlock
        case gpu::Attribute::threads_per_compute_unit:
            return 57;  // MaxThreadsPerMultiProcessor
        case gpu::Attribute::compute_units:
            return 63;  // MultiprocessorCount
        case gpu::Attribute::shared_bytes_per_program:
            return 74;  // MaxSharedMemoryPerBlock
        case gpu::Attribute::warp_size:
            return 87;  // WarpSize
        case gpu::Attribute::can_wait_for_value:
            return 10013;  // CanUseStreamWaitValue
        case gpu::Attribute::memory_clock_khz:
            return 60;  // MemoryClockRate
        case gpu::Attribute::memory_bus_bits:
            return 59;  // MemoryBusWidth
    }
    return 0;
}

Result device_get_attribute(int* value, gpu::Attribute attribute, DeviceId device) {
    return hip().device_get_attribute(value, hip_attribute(attribute), device);
}

/// A work-group may have all the LDS without asking.
Result function_allow_shared(Function, std::int64_t) {
    return gpu::success;
}

Result launch_kernel(Function function, const gpu::LaunchShape& shape, void** arguments, Stream stream) {
    if (!shape.cooperative) {
        return hip().module_launch_kernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                                          shape.block[2], shape.shared_bytes, stream, arguments, nullptr);
    }
    if (hip().module_launch_cooperative_kernel == nullptr) {
        return not_supported;
    }
    return hip().module_launch_cooperative_kernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                                                  shape.block[2], shape.shared_bytes, stream, arguments);
}

Result stream_wait_value32(Stream stream, DevicePointer at, std::uint32_t value) {
    constexpr unsigned until_equal = 1;  // hipStreamWaitValueEq
    constexpr std::uint32_t all_bits = 0xffffffff;
    return hip().stream_wait_value32(stream, at, value, until_equal, all_bits);
}

constexpr Symbol<Hip> own_functions[] = {
    symbol<&Hip::init>("hipInit"),
    symbol<&Hip::runtime_get_version>("hipRuntimeGetVersion"),
    symbol<&Hip::get_error_name>("hipGetErrorName"),
    symbol<&Hip::get_error_string>("hipGetErrorString"),
    symbol<&Hip::device_get_attribute>("hipDeviceGetAttribute"),
    symbol<&Hip::module_launch_kernel>("hipModuleLaunchKernel"),
    symbol<&Hip::stream_wait_value32>("hipStreamWaitValue32"),
    symbol<&Hip::module_launch_cooperative_kernel>("hipModuleLaunchCooperativeKernel", false),  // since ROCm 5.5
    symbol<&Hip::get_device_properties>("hipGetDevicePropertiesR0600", false),                  // since ROCm 6
};
constexpr Symbol<Hip> functions_of_5[] = {symbol<&Hip::get_device_properties>("hipGetDeviceProperties")};

constexpr Symbol<Driver> functions[] = {
    symbol<&Driver::device_get>("hipDeviceGet"),
    symbol<&Driver::device_get_count>("hipGetDeviceCount"),
    symbol<&Driver::device_get_name>("hipDeviceGetName"),
    symbol<&Driver::device_get_pci_bus_id>("hipDeviceGetPCIBusId"),
    symbol<&Driver::device_get_uuid>("hipDeviceGetUuid", false),
    symbol<&Driver::device_total_memory>("hipDeviceTotalMem"),
    symbol<&Driver::device_use>("hipSetDevice"),
    symbol<&Driver::memory_get_info>("hipMemGetInfo"),
    symbol<&Driver::memory_alloc>("hipMalloc"),
    symbol<&Driver::memory_free>("hipFree"),
    symbol<&Driver::memory_host_alloc>("hipHostMalloc"),
    symbol<&Driver::memory_host_get_device_pointer>("hipHostGetDevicePointer"),
    symbol<&Driver::memory_free_host>("hipHostFree"),
    symbol<&Driver::copy_to_device>("hipMemcpyHtoD"),
    symbol<&Driver::copy_to_host>("hipMemcpyDtoH"),
    symbol<&Driver::copy_on_device_async>("hipMemcpyDtoDAsync"),
    symbol<&Driver::set_u32_async>("hipMemsetD32Async"),
    symbol<&Driver::module_load_data>("hipModuleLoadData"),
    symbol<&Driver::module_unload>("hipModuleUnload"),
    symbol<&Driver::module_get_function>("hipModuleGetFunction"),
    symbol<&Driver::occupancy_blocks>("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"),
    symbol<&Driver::stream_create>("hipStreamCreateWithFlags"),
    symbol<&Driver::stream_synchronize>("hipStreamSynchronize"),
    symbol<&Driver::stream_begin_capture>("hipStreamBeginCapture"),
    symbol<&Driver::stream_end_capture>("hipStreamEndCapture"),
    symbol<&Driver::event_create>("hipEventCreateWithFlags"),
    symbol<&Driver::event_record>("hipEventRecord"),
    symbol<&Driver::event_synchronize>("hipEventSynchronize"),
    symbol<&Driver::event_elapsed_ms>("hipEventElapsedTime"),
    symbol<&Driver::event_destroy>("hipEventDestroy"),
    symbol<&Driver::graph_instantiate>("hipGraphInstantiateWithFlags"),
    symbol<&Driver::graph_upload>("hipGraphUpload", false),
    symbol<&Driver::graph_launch>("hipGraphLaunch"),
    symbol<&Driver::graph_exec_destroy>("hipGraphExecDestroy"),
    symbol<&Driver::graph_destroy>("hipGraphDestroy"),
};

LoadedRuntime load() {
    LoadedRuntime loaded;
    const DynamicLibrary library(rocm_libraries("libamdhip64"));
    if (!library.is_open()) {
        loaded.why_not = fmt::format("no HIP run time: {}; install ROCm, or set ROCM_PATH to where it is", library.why_not());
        return loaded;
    }
    std::string missing;
    library.load(loaded.hip, own_functions, missing);
    library.load(loaded.table, functions, missing);
    loaded.layout = layout_6;
    if (loaded.hip.get_device_properties == nullptr) {
        library.load(loaded.hip, functions_of_5, missing);
        loaded.layout = layout_5;
    }
    Driver& d = loaded.table;
    d.describe = describe;
    d.device_get_attribute = device_get_attribute;
    d.function_allow_shared = function_allow_shared;
    d.launch_kernel = launch_kernel;
    d.stream_wait_value32 = stream_wait_value32;
    if (!missing.empty()) {
        loaded.why_not = fmt::format("the HIP run time is too old: {} has no {}; ROCm 5.2 or newer is needed", library.path(), missing);
        return loaded;
    }
    if (const Result result = loaded.hip.init(0); result != gpu::success) {
        loaded.why_not = fmt::format(
            "{} is here, but does not start: {}; look for /dev/kfd (the amdgpu driver) and at "
            "its permissions (groups render and video)",
            library.path(), describe_with(loaded.hip, result));
        return loaded;
    }
    loaded.usable = true;
    return loaded;
}

const LoadedRuntime& loaded_runtime() {
    static const LoadedRuntime loaded = load();
    return loaded;
}

}  // namespace

std::vector<std::string> rocm_libraries(const std::string& stem) {
    const std::array<std::string, 4> names{stem + ".so.7", stem + ".so.6", stem + ".so.5", stem + ".so"};
    return library_candidates(names, {"ROCM_PATH", "HIP_PATH"}, "lib", "/opt/rocm/lib");
}

const gpu::Driver* load_runtime(std::string& why_not) {
    why_not = loaded_runtime().why_not;
    return loaded_runtime().usable ? &loaded_runtime().table : nullptr;
}

std::string architecture_of(DeviceId device) {
    std::array<char, properties_bytes> properties{};
    gpu::check(loaded_runtime().table, hip().get_device_properties(properties.data(), device), DeviceFault::unsupported,
               "asking for the device's properties");
    std::string_view name(properties.data() + loaded_runtime().layout.architecture_at, architecture_bytes);
    name = name.substr(0, name.find('\0'));
    return std::string(name.substr(0, name.find(':')));
}

std::string runtime_version() {
    int version = 0;
    hip().runtime_get_version(&version);  // 60241134: major, minor (two digits), patch (five)
    return fmt::format("{}.{}", version / 10000000, version / 100000 % 100);
}

}  // namespace normtune::hip
