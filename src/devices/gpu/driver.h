// What the measuring of a GPU asks of its driver, CUDA's or HIP's: one table of functions that devices/cuda and
// devices/hip each fill from the vendor's library, which is opened at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.h"

namespace normtune::gpu {

using Result = int;  // the vendor's own code; 0 is success on both
using DeviceId = int;
using DevicePointer = unsigned long long;
using Module = struct ModuleOpaque*;
using Function = struct FunctionOpaque*;
using Stream = struct StreamOpaque*;  // null: the default stream
using Event = struct EventOpaque*;
using Graph = struct GraphOpaque*;
using GraphExec = struct GraphExecOpaque*;

inline constexpr Result success = 0;
inline constexpr Result error_out_of_memory = 2;  // CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory
inline constexpr int capture_relaxed = 2;         // CU_STREAM_CAPTURE_MODE_RELAXED, hipStreamCaptureModeRelaxed

enum class Attribute {
    max_threads_per_program,
    shared_bytes_per_program,  // the most that a launch may ask for
    compute_units,
    threads_per_compute_unit,
    cache_bytes,  // L2
    warp_size,
    can_wait_for_value,  // 1: a stream can wait until memory has a value
    memory_clock_khz,
    memory_bus_bits,
};

struct LaunchShape {
    std::array<unsigned, 3> grid;
    std::array<unsigned, 3> block;
    unsigned shared_bytes;            // dynamic
    std::array<unsigned, 3> cluster;  // 1, 1, 1: none (where the vendor has no clusters: none)
    bool cooperative;
    bool overlaps;  // may begin while the launch before it ends (where the vendor has that: else it does not)
};

/// Functions of the same shape on both sides have the vendor's own signature; addresses and handles are pointers or
/// integers of one size there. Meanings: CUDA Driver API and HIP Runtime API references.
struct Driver {
    std::string (*describe)(Result);  // "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
    Result (*device_get)(DeviceId*, int ordinal);
    Result (*device_get_count)(int*);
    Result (*device_get_name)(char* name, int length, DeviceId);
    Result (*device_get_pci_bus_id)(char* id, int length, DeviceId);
    Result (*device_get_uuid)(void* bytes, DeviceId);  // 16 of them; null: old drivers have it not
    Result (*device_get_attribute)(int* value, Attribute, DeviceId);
    Result (*device_total_memory)(std::size_t* bytes, DeviceId);
    Result (*device_use)(DeviceId);  // by the calling thread
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
    Result (*function_allow_shared)(Function, std::int64_t dynamic_bytes);
    Result (*occupancy_blocks)(int* programs, Function, int block_size, std::size_t dynamic_shared_bytes);
    /// Of so many the device has room for at once. Null: the vendor has no clusters, or the driver cannot tell.
    Result (*occupancy_clusters)(int* clusters, Function, const LaunchShape&);
    Result (*launch_kernel)(Function, const LaunchShape&, void** arguments, Stream);
    Result (*stream_create)(Stream*, unsigned flags);
    Result (*stream_synchronize)(Stream);
    Result (*stream_wait_value32)(Stream, DevicePointer, std::uint32_t value);  // until equal
    Result (*stream_begin_capture)(Stream, int mode);
    Result (*stream_end_capture)(Stream, Graph*);
    Result (*event_create)(Event*, unsigned flags);
    Result (*event_record)(Event, Stream);
    Result (*event_synchronize)(Event);
    Result (*event_elapsed_ms)(float* ms, Event start, Event end);
    Result (*event_destroy)(Event);
    Result (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags);
    Result (*graph_upload)(GraphExec, Stream);  // before its first launch; null: old drivers have it not
    Result (*graph_launch)(GraphExec, Stream);
    Result (*graph_exec_destroy)(GraphExec);
    Result (*graph_destroy)(Graph);
};

/// The one translation of a driver's errors: throws DeviceError with what the call was for. Out of memory is told from other
/// faults by its code.
void check(const Driver& driver, Result result, DeviceFault fault, const char* doing);

/// "0000:18:00.0"; empty where the driver does not tell.
std::string pci_address(const Driver& driver, DeviceId device);

/// "GPU-" and 32 hexadecimal digits in groups, as nvidia-smi prints them; from HIP, whose bytes are digits, those 16. Empty where the
/// driver does not tell.
std::string device_uuid(const Driver& driver, DeviceId device);

/// What a driver tells of a GPU's clocks; where it does not, measuring goes on without.
struct ClockState {
    std::optional<double> mhz;                  // of the compute units
    std::optional<double> memory_mhz;           // of the memory
    std::vector<std::string> throttle_reasons;  // "sw_power_cap", "hw_thermal_slowdown", …; idle and set clocks are none
};

/// Throws DeviceError: unsupported.
int attribute(const Driver& driver, Attribute name, DeviceId device);

}  // namespace normtune::gpu
