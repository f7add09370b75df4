// The part of the CUDA driver API that normtune uses, declared here and loaded from libcuda at run time, so that the
// build needs no CUDA toolkit. Signatures and constants: CUDA Driver API reference, versions 11.8 to 13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "devices/device.h"

namespace normtune::cuda {

using Result = int;
using DeviceId = int;
using DevicePointer = unsigned long long;
using Context = struct ContextOpaque*;
using Module = struct ModuleOpaque*;
using Function = struct FunctionOpaque*;
using Stream = struct StreamOpaque*;
using Event = struct EventOpaque*;
using Graph = struct GraphOpaque*;
using GraphExec = struct GraphExecOpaque*;
using GraphNode = struct GraphNodeOpaque*;

inline constexpr Result success = 0;
inline constexpr Result error_out_of_memory = 2;
inline constexpr Result error_launch_out_of_resources = 701;

enum class Attribute : int {
    max_threads_per_block = 1,
    total_constant_memory = 9,
    clock_rate = 13,
    multiprocessor_count = 16,
    l2_cache_size = 38,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    max_shared_memory_per_multiprocessor = 81,
    max_registers_per_multiprocessor = 82,
    max_threads_per_multiprocessor = 39,
    can_use_stream_wait_value = 122,
    max_shared_memory_per_block_optin = 97,
};

enum class FunctionAttribute : int {
    max_threads_per_block = 0,
    shared_bytes = 1,
    local_bytes = 3,
    registers = 4,
    max_dynamic_shared_bytes = 8,
    preferred_shared_carveout = 9,
};

/// CUlaunchAttribute and CUlaunchConfig of cuLaunchKernelEx (CUDA 11.8 and newer).
struct LaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int flag;
    } value;
};
inline constexpr int attribute_cooperative = 2;
inline constexpr int attribute_programmatic_stream_serialization = 6;

struct LaunchConfig {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    Stream stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};

struct Driver {
    Result (*init)(unsigned flags);
    Result (*driver_get_version)(int* version);
    Result (*get_error_name)(Result, const char** name);
    Result (*get_error_string)(Result, const char** text);
    Result (*device_get)(DeviceId*, int ordinal);
    Result (*device_get_count)(int*);
    Result (*device_get_name)(char* name, int length, DeviceId);
    Result (*device_get_pci_bus_id)(char* id, int length, DeviceId);
    Result (*device_get_attribute)(int* value, int attribute, DeviceId);
    Result (*device_total_memory)(std::size_t* bytes, DeviceId);
    Result (*primary_context_retain)(Context*, DeviceId);
    Result (*context_set_current)(Context);
    Result (*context_synchronize)();
    Result (*memory_get_info)(std::size_t* free, std::size_t* total);
    Result (*memory_alloc)(DevicePointer*, std::size_t bytes);
    Result (*memory_free)(DevicePointer);
    Result (*memory_host_alloc)(void**, std::size_t bytes, unsigned flags);
    Result (*memory_host_get_device_pointer)(DevicePointer*, void* host, unsigned flags);
    Result (*memory_free_host)(void*);
    Result (*copy_to_device)(DevicePointer, const void*, std::size_t bytes);
    Result (*copy_to_host)(void*, DevicePointer, std::size_t bytes);
    Result (*copy_on_device_async)(DevicePointer to, DevicePointer from, std::size_t bytes, Stream);
    Result (*set_u32_async)(DevicePointer, unsigned value, std::size_t count, Stream);
    Result (*module_load_data)(Module*, const void* image);
    Result (*module_unload)(Module);
    Result (*module_get_function)(Function*, Module, const char* name);
    Result (*function_get_attribute)(int* value, int attribute, Function);
    Result (*function_set_attribute)(Function, int attribute, int value);
    Result (*occupancy_blocks)(int* blocks, Function, int block_size, std::size_t dynamic_shared_bytes);
    Result (*launch_kernel)(const LaunchConfig*, Function, void** arguments, void** extra);
    Result (*stream_create)(Stream*, unsigned flags);
    Result (*stream_synchronize)(Stream);
    Result (*stream_wait_value32)(Stream, DevicePointer, std::uint32_t value, unsigned flags);
    Result (*stream_begin_capture)(Stream, int mode);
    Result (*stream_end_capture)(Stream, Graph*);
    Result (*event_create)(Event*, unsigned flags);
    Result (*event_record)(Event, Stream);
    Result (*event_synchronize)(Event);
    Result (*event_elapsed_ms)(float* ms, Event start, Event end);
    Result (*event_destroy)(Event);
    Result (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags);
    Result (*graph_launch)(GraphExec, Stream);
    Result (*graph_exec_destroy)(GraphExec);
    Result (*graph_destroy)(Graph);
};

/// The loaded and initialised driver; null where there is none, and `why_not` says in one line what is missing and
/// what would mend it. Loaded once a process.
const Driver* load_driver(std::string& why_not);

/// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
std::string describe(const Driver& driver, Result result);

/// Throws DeviceError with what the call was for; out of memory is told from other faults by its code.
void check(const Driver& driver, Result result, DeviceFault fault, const char* doing);

}  // namespace normtune::cuda
