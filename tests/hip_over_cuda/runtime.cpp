// libamdhip64's entry points over CUDA's driver, so that normtune's HIP host path runs on an NVIDIA GPU. For tests
// alone. Signatures and numbers: HIP Runtime API reference, ROCm 6. HIP_OVER_CUDA_LACKS names what it shall not have,
// as a run time may not: "wait_value", "graphs".
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "code_object.h"
#include "devices/cuda/driver_api.h"

namespace {

using normtune::gpu::Attribute;
using normtune::gpu::DevicePointer;
using normtune::gpu::Driver;
using normtune::gpu::Event;
using normtune::gpu::Function;
using normtune::gpu::Graph;
using normtune::gpu::GraphExec;
using normtune::gpu::LaunchShape;
using normtune::gpu::Module;
using normtune::gpu::Stream;

using Status = int;  // hipError_t
constexpr Status good = 0;
constexpr Status invalid_value = 1;
constexpr Status no_device = 100;
constexpr Status invalid_image = 200;
constexpr Status not_supported = 801;

bool lacks(const char* what) {
    const char* all = std::getenv("HIP_OVER_CUDA_LACKS");
    return all != nullptr && std::strstr(all, what) != nullptr;
}

const Driver* cuda() {
    std::string why_not;
    return normtune::cuda::load_driver(why_not);
}

/// hipDeviceAttribute_t.
const std::map<int, Attribute> attributes{
    {19, Attribute::cache_bytes},     {56, Attribute::max_threads_per_program},  {57, Attribute::threads_per_compute_unit},
    {63, Attribute::compute_units},   {74, Attribute::shared_bytes_per_program}, {87, Attribute::warp_size},
    {59, Attribute::memory_bus_bits}, {60, Attribute::memory_clock_khz},         {10013, Attribute::can_wait_for_value}};

/// CUDA must be asked before it gives a program more than 48 KiB; HIP need not.
Status allow_shared(Function function, std::size_t bytes) {
    constexpr std::size_t given_unasked = 48 << 10;
    return bytes > given_unasked ? cuda()->function_allow_shared(function, static_cast<std::int64_t>(bytes)) : good;
}

Status launch(Function function, const LaunchShape& shape, void** arguments, Stream stream) {
    const Status status = allow_shared(function, shape.shared_bytes);
    return status == good ? cuda()->launch_kernel(function, shape, arguments, stream) : status;
}

}  // namespace

extern "C" {

Status hipInit(unsigned) {
    return cuda() == nullptr ? no_device : good;
}
Status hipRuntimeGetVersion(int* version) {
    *version = 60000000;
    return good;
}
const char* hipGetErrorName(Status status) {
    thread_local std::string text;
    text = cuda() == nullptr ? "hipErrorNoDevice" : cuda()->describe(status);
    return text.c_str();
}
const char* hipGetErrorString(Status) {
    return "CUDA's, through HIP's entry points";
}
Status hipGetDeviceCount(int* count) {
    return cuda()->device_get_count(count);
}
Status hipDeviceGet(int* device, int ordinal) {
    return cuda()->device_get(device, ordinal);
}
Status hipDeviceGetName(char* name, int length, int device) {
    return cuda()->device_get_name(name, length, device);
}
Status hipDeviceGetPCIBusId(char* id, int length, int device) {
    return cuda()->device_get_pci_bus_id(id, length, device);
}
Status hipDeviceTotalMem(std::size_t* bytes, int device) {
    return cuda()->device_total_memory(bytes, device);
}
Status hipDeviceGetAttribute(int* value, int attribute, int device) {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) {
        return invalid_value;
    }
    if (found->second == Attribute::can_wait_for_value && lacks("wait_value")) {
        *value = 0;
        return good;
    }
    return cuda()->device_get_attribute(value, found->second, device);
}
Status hipGetDevicePropertiesR0600(void* properties, int device) {
    constexpr std::size_t bytes = 1472;
    constexpr std::size_t architecture_at = 1160;
    std::memset(properties, 0, bytes);
    const std::string arch = normtune::cuda::architecture_of(device) + ":features";
    std::memcpy(static_cast<char*>(properties) + architecture_at, arch.c_str(), arch.size() + 1);
    return cuda()->device_get_name(static_cast<char*>(properties), 256, device);
}
Status hipSetDevice(int device) {
    return cuda()->device_use(device);
}

Status hipMemGetInfo(std::size_t* free, std::size_t* total) {
    return cuda()->memory_get_info(free, total);
}
Status hipMalloc(DevicePointer* pointer, std::size_t bytes) {
    return cuda()->memory_alloc(pointer, bytes);
}
Status hipFree(DevicePointer pointer) {
    return cuda()->memory_free(pointer);
}
Status hipHostMalloc(void** pointer, std::size_t bytes, unsigned flags) {
    return cuda()->memory_host_alloc(pointer, bytes, flags);
}
Status hipHostGetDevicePointer(DevicePointer* pointer, void* host, unsigned flags) {
    return cuda()->memory_host_get_device_pointer(pointer, host, flags);
}
Status hipHostFree(void* pointer) {
    return cuda()->memory_free_host(pointer);
}
Status hipMemcpyHtoD(DevicePointer to, const void* from, std::size_t bytes) {
    return cuda()->copy_to_device(to, from, bytes);
}
Status hipMemcpyDtoH(void* to, DevicePointer from, std::size_t bytes) {
    return cuda()->copy_to_host(to, from, bytes);
}
Status hipMemcpyDtoDAsync(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream) {
    return cuda()->copy_on_device_async(to, from, bytes, stream);
}
Status hipMemsetD32Async(DevicePointer to, int value, std::size_t count, Stream stream) {
    return cuda()->set_u32_async(to, static_cast<unsigned>(value), count, stream);
}

Status hipModuleLoadData(Module* module, const void* image) {
    const void* cubin = hip_over_cuda::cubin_of(image);
    return cubin == nullptr ? invalid_image : cuda()->module_load_data(module, cubin);
}
Status hipModuleUnload(Module module) {
    return cuda()->module_unload(module);
}
Status hipModuleGetFunction(Function* function, Module module, const char* name) {
    return cuda()->module_get_function(function, module, name);
}
Status hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* programs, Function function, int block, std::size_t shared_bytes) {
    const Status status = allow_shared(function, shared_bytes);
    return status == good ? cuda()->occupancy_blocks(programs, function, block, shared_bytes) : status;
}
Status hipModuleLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                             unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments, void**) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, {1, 1, 1}, false, false}, arguments,
                  stream);
}
Status hipModuleLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                        unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, {1, 1, 1}, true, false}, arguments,
                  stream);
}

Status hipStreamCreateWithFlags(Stream* stream, unsigned flags) {
    return cuda()->stream_create(stream, flags);
}
Status hipStreamSynchronize(Stream stream) {
    return cuda()->stream_synchronize(stream);
}
Status hipStreamWaitValue32(Stream stream, DevicePointer at, std::uint32_t value, unsigned flags, std::uint32_t) {
    constexpr unsigned until_equal = 1;
    return flags == until_equal ? cuda()->stream_wait_value32(stream, at, value) : invalid_value;
}
Status hipStreamBeginCapture(Stream stream, int mode) {
    return lacks("graphs") ? not_supported : cuda()->stream_begin_capture(stream, mode);
}
Status hipStreamEndCapture(Stream stream, Graph* graph) {
    return cuda()->stream_end_capture(stream, graph);
}
Status hipEventCreateWithFlags(Event* event, unsigned flags) {
    return cuda()->event_create(event, flags);
}
Status hipEventRecord(Event event, Stream stream) {
    return cuda()->event_record(event, stream);
}
Status hipEventSynchronize(Event event) {
    return cuda()->event_synchronize(event);
}
Status hipEventElapsedTime(float* ms, Event start, Event end) {
    return cuda()->event_elapsed_ms(ms, start, end);
}
Status hipEventDestroy(Event event) {
    return cuda()->event_destroy(event);
}
Status hipGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
    return cuda()->graph_instantiate(exec, graph, flags);
}
Status hipGraphUpload(GraphExec exec, Stream stream) {
    return cuda()->graph_upload == nullptr ? good : cuda()->graph_upload(exec, stream);
}
Status hipGraphLaunch(GraphExec exec, Stream stream) {
    return cuda()->graph_launch(exec, stream);
}
Status hipGraphExecDestroy(GraphExec exec) {
    return cuda()->graph_exec_destroy(exec);
}
Status hipGraphDestroy(Graph graph) {
    return cuda()->graph_destroy(graph);
}

}  // extern "C"
