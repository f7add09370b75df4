#include "devices/cuda/driver_api.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "support/dynamic_library.h"

namespace normtune::cuda {

namespace {

using gpu::DeviceId;
using gpu::DevicePointer;
using gpu::Driver;
using gpu::Function;
using gpu::Result;
using gpu::Stream;
using Context = struct ContextOpaque*;

/// CUlaunchAttribute and CUlaunchConfig of cuLaunchKernelEx (CUDA 11.8 and newer).
struct LaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int flag;
        unsigned cluster[3];
    } value;
};
constexpr int attribute_cooperative = 2;
constexpr int attribute_cluster_dimension = 4;
constexpr int attribute_programmatic_stream_serialization = 6;

struct LaunchConfig {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    Stream stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};

/// What has another shape than the table's functions.
struct Cuda {
    Result (*init)(unsigned flags);
    Result (*driver_get_version)(int* version);
    Result (*get_error_name)(Result, const char** name);
    Result (*get_error_string)(Result, const char** text);
    Result (*device_get_attribute)(int* value, int attribute, DeviceId);
    Result (*primary_context_retain)(Context*, DeviceId);
    Result (*context_set_current)(Context);
    Result (*function_set_attribute)(Function, int attribute, int value);
    Result (*launch_kernel)(const LaunchConfig*, Function, void** arguments, void** extra);
    Result (*occupancy_clusters)(int* clusters, Function, const LaunchConfig*);
    Result (*stream_wait_value32)(Stream, DevicePointer, std::uint32_t value, unsigned flags);
};

struct LoadedDriver {
    Driver table{};
    Cuda cuda{};
    std::string why_not;
    bool usable = false;
};

const LoadedDriver& loaded_driver();

const Cuda& cuda() {
    return loaded_driver().cuda;
}

std::string describe_with(const Cuda& api, Result result) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (api.get_error_name(result, &name) != gpu::success || api.get_error_string(result, &text) != gpu::success) {
        return fmt::format("CUDA error {}", result);
    }
    return fmt::format("{} ({})", name, text);
}

std::string describe(Result result) {
    return describe_with(cuda(), result);
}

constexpr int compute_capability_major = 75;
constexpr int compute_capability_minor = 76;

/// CUdevice_attribute.
int cuda_attribute(gpu::Attribute attribute) {
    switch (attribute) {
        case gpu::Attribute::max_threads_per_program:
            return 1;
        case gpu::Attribute::warp_size:
            return 10;
        case gpu::Attribute::compute_units:
            return 16;
        case gpu::Attribute::cache_bytes:
            return 38;
        case gpu::Attribute::threads_per_compute_unit:
            return 39;
        case gpu::Attribute::shared_bytes_per_program:
            return 97;  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        case gpu::Attribute::can_wait_for_value:
            return 122;  // CAN_USE_STREAM_WAIT_VALUE
        case gpu::Attribute::memory_clock_khz:
            return 36;
        case gpu::Attribute::memory_bus_bits:
            return 37;
    }
    return 0;
}

Result device_get_attribute(int* value, gpu::Attribute attribute, DeviceId device) {
    return cuda().device_get_attribute(value, cuda_attribute(attribute), device);
}

Result device_use(DeviceId device) {
    Context context = nullptr;
    const Result result = cuda().primary_context_retain(&context, device);
    return result == gpu::success ? cuda().context_set_current(context) : result;
}

Result function_allow_shared(Function function, std::int64_t bytes) {
    constexpr int max_dynamic_shared_bytes = 8;
    return cuda().function_set_attribute(function, max_dynamic_shared_bytes, static_cast<int>(bytes));
}

using Attributes = std::array<LaunchAttribute, 3>;

/// Which has `attributes`. A cluster beyond the portable size is allowed to the function.
Result configure(LaunchConfig& config, Attributes& attributes, Function function, const gpu::LaunchShape& shape, Stream stream) {
    unsigned count = 0;
    if (shape.cooperative) {
        attributes[count].id = attribute_cooperative;
        attributes[count++].value.flag = 1;
    }
    if (shape.overlaps) {
        attributes[count].id = attribute_programmatic_stream_serialization;
        attributes[count++].value.flag = 1;
    }
    if (const unsigned programs = shape.cluster[0] * shape.cluster[1] * shape.cluster[2]; programs > 1) {
        constexpr int non_portable_size_allowed = 14;
        constexpr unsigned most_portable = 8;
        if (programs > most_portable) {
            if (const Result refused = cuda().function_set_attribute(function, non_portable_size_allowed, 1); refused != gpu::success) {
                return refused;
            }
        }
        attributes[count].id = attribute_cluster_dimension;
        std::copy(shape.cluster.begin(), shape.cluster.end(), attributes[count++].value.cluster);
    }
    config = {shape.grid[0],  shape.grid[1],      shape.grid[2], shape.block[0],    shape.block[1],
              shape.block[2], shape.shared_bytes, stream,        attributes.data(), count};
    return gpu::success;
}

Result launch_kernel(Function function, const gpu::LaunchShape& shape, void** arguments, Stream stream) {
    LaunchConfig config{};
    Attributes attributes{};
    const Result configured = configure(config, attributes, function, shape, stream);
    return configured == gpu::success ? cuda().launch_kernel(&config, function, arguments, nullptr) : configured;
}

Result occupancy_clusters(int* clusters, Function function, const gpu::LaunchShape& shape) {
    LaunchConfig config{};
    Attributes attributes{};
    const Result configured = configure(config, attributes, function, shape, nullptr);
    return configured == gpu::success ? cuda().occupancy_clusters(clusters, function, &config) : configured;
}

Result stream_wait_value32(Stream stream, DevicePointer at, std::uint32_t value) {
    constexpr unsigned until_equal = 1;  // CU_STREAM_WAIT_VALUE_EQ
    return cuda().stream_wait_value32(stream, at, value, until_equal);
}

constexpr Symbol<Cuda> own_functions[] = {
    symbol<&Cuda::init>("cuInit"),
    symbol<&Cuda::driver_get_version>("cuDriverGetVersion"),
    symbol<&Cuda::get_error_name>("cuGetErrorName"),
    symbol<&Cuda::get_error_string>("cuGetErrorString"),
    symbol<&Cuda::device_get_attribute>("cuDeviceGetAttribute"),
    symbol<&Cuda::primary_context_retain>("cuDevicePrimaryCtxRetain"),
    symbol<&Cuda::context_set_current>("cuCtxSetCurrent"),
    symbol<&Cuda::function_set_attribute>("cuFuncSetAttribute"),
    symbol<&Cuda::launch_kernel>("cuLaunchKernelEx"),
    symbol<&Cuda::occupancy_clusters>("cuOccupancyMaxActiveClusters", false),
    symbol<&Cuda::stream_wait_value32>("cuStreamWaitValue32_v2"),
};

constexpr Symbol<Driver> functions[] = {
    symbol<&Driver::device_get>("cuDeviceGet"),
    symbol<&Driver::device_get_count>("cuDeviceGetCount"),
    symbol<&Driver::device_get_name>("cuDeviceGetName"),
    symbol<&Driver::device_get_pci_bus_id>("cuDeviceGetPCIBusId"),
    symbol<&Driver::device_get_uuid>("cuDeviceGetUuid_v2", false),
    symbol<&Driver::device_total_memory>("cuDeviceTotalMem_v2"),
    symbol<&Driver::memory_get_info>("cuMemGetInfo_v2"),
    symbol<&Driver::memory_alloc>("cuMemAlloc_v2"),
    symbol<&Driver::memory_free>("cuMemFree_v2"),
    symbol<&Driver::memory_host_alloc>("cuMemHostAlloc"),
    symbol<&Driver::memory_host_get_device_pointer>("cuMemHostGetDevicePointer_v2"),
    symbol<&Driver::memory_free_host>("cuMemFreeHost"),
    symbol<&Driver::copy_to_device>("cuMemcpyHtoD_v2"),
    symbol<&Driver::copy_to_host>("cuMemcpyDtoH_v2"),
    symbol<&Driver::copy_on_device_async>("cuMemcpyDtoDAsync_v2"),
    symbol<&Driver::set_u32_async>("cuMemsetD32Async"),
    symbol<&Driver::module_load_data>("cuModuleLoadData"),
    symbol<&Driver::module_unload>("cuModuleUnload"),
    symbol<&Driver::module_get_function>("cuModuleGetFunction"),
    symbol<&Driver::occupancy_blocks>("cuOccupancyMaxActiveBlocksPerMultiprocessor"),
    symbol<&Driver::stream_create>("cuStreamCreate"),
    symbol<&Driver::stream_synchronize>("cuStreamSynchronize"),
    symbol<&Driver::stream_begin_capture>("cuStreamBeginCapture_v2"),
    symbol<&Driver::stream_end_capture>("cuStreamEndCapture"),
    symbol<&Driver::event_create>("cuEventCreate"),
    symbol<&Driver::event_record>("cuEventRecord"),
    symbol<&Driver::event_synchronize>("cuEventSynchronize"),
    symbol<&Driver::event_elapsed_ms>("cuEventElapsedTime"),
    symbol<&Driver::event_destroy>("cuEventDestroy_v2"),
    symbol<&Driver::graph_instantiate>("cuGraphInstantiateWithFlags"),
    symbol<&Driver::graph_upload>("cuGraphUpload", false),
    symbol<&Driver::graph_launch>("cuGraphLaunch"),
    symbol<&Driver::graph_exec_destroy>("cuGraphExecDestroy"),
    symbol<&Driver::graph_destroy>("cuGraphDestroy"),
};

LoadedDriver load_driver() {
    LoadedDriver loaded;
    const std::array<std::string, 3> candidates{"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                                "/usr/local/nvidia/lib64/libcuda.so.1"};
    const DynamicLibrary library(candidates);
    if (!library.is_open()) {
        loaded.why_not = fmt::format("no NVIDIA driver: {}; install the NVIDIA driver for this kernel", library.why_not());
        return loaded;
    }
    std::string missing;
    library.load(loaded.cuda, own_functions, missing);
    library.load(loaded.table, functions, missing);
    Driver& d = loaded.table;
    d.describe = describe;
    d.device_get_attribute = device_get_attribute;
    d.device_use = device_use;
    d.function_allow_shared = function_allow_shared;
    d.launch_kernel = launch_kernel;
    d.occupancy_clusters = loaded.cuda.occupancy_clusters != nullptr ? occupancy_clusters : nullptr;
    d.stream_wait_value32 = stream_wait_value32;
    if (!missing.empty()) {
        loaded.why_not = fmt::format("the NVIDIA driver is too old: {} has no {}; CUDA 11.8 or newer is needed", library.path(), missing);
        return loaded;
    }
    if (const Result result = loaded.cuda.init(0); result != gpu::success) {
        loaded.why_not = fmt::format("the NVIDIA driver does not start: {}", describe_with(loaded.cuda, result));
        return loaded;
    }
    loaded.usable = true;
    return loaded;
}

const LoadedDriver& loaded_driver() {
    static const LoadedDriver loaded = load_driver();
    return loaded;
}

}  // namespace

const gpu::Driver* load_driver(std::string& why_not) {
    why_not = loaded_driver().why_not;
    return loaded_driver().usable ? &loaded_driver().table : nullptr;
}

std::string architecture_of(DeviceId device) {
    int major = 0;
    int minor = 0;
    const gpu::Driver& driver = loaded_driver().table;
    for (const auto& [value, attribute] : {std::pair{&major, compute_capability_major}, {&minor, compute_capability_minor}}) {
        gpu::check(driver, cuda().device_get_attribute(value, attribute, device), DeviceFault::unsupported,
                   "asking for the compute capability");
    }
    return fmt::format("sm_{}{}", major, minor);
}

std::string cuda_version() {
    int version = 0;
    cuda().driver_get_version(&version);
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace normtune::cuda
