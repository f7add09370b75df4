// The few functions of libcuda that launch a kernel, opened at run time: neither the build nor the run needs a CUDA toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace normtune_torch {

using Result = int;  // CUresult; 0: success
using Module = struct CudaModule*;
using Function = struct CudaFunction*;
using Stream = struct CudaStream*;
using Context = struct CudaContext*;
using Graph = struct CudaGraph*;
using UserObject = struct CudaUserObject*;
using DevicePointer = std::uintptr_t;

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
constexpr int relaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

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

struct Driver {
    Result (*get_error_name)(Result, const char**);
    Result (*device_get)(int* device, int ordinal);
    Result (*device_get_name)(char* name, int length, int device);
    Result (*device_get_attribute)(int* value, int attribute, int device);
    Result (*primary_context_retain)(Context*, int device);
    Result (*context_get_current)(Context*);
    Result (*context_set_current)(Context);
    Result (*module_load_data)(Module*, const void* image);
    Result (*module_get_function)(Function*, Module, const char* name);
    Result (*function_set_attribute)(Function, int attribute, int value);
    Result (*stream_is_capturing)(Stream, int* status);
    Result (*exchange_capture_mode)(int* mode);
    Result (*stream_get_capture_info)(Stream, int* status, std::uint64_t* id, Graph*, const void** dependencies, std::size_t* count);
    Result (*user_object_create)(UserObject*, void* object, void (*destroy)(void*), unsigned references, unsigned flags);
    Result (*user_object_release)(UserObject, unsigned references);
    Result (*graph_retain_user_object)(Graph, UserObject, unsigned references, unsigned flags);
    Result (*memory_allocate)(DevicePointer*, std::size_t bytes);
    Result (*memory_set)(DevicePointer, unsigned char value, std::size_t bytes, Stream);
    Result (*stream_create)(Stream*, unsigned flags);
    Result (*stream_synchronize)(Stream);
    Result (*launch_kernel)(const LaunchConfig*, Function, void** arguments, void** extra);
};

/// Null where there is no NVIDIA driver, or one older than CUDA 11.8.
const Driver* load_driver();

/// What is called meanwhile is no part of a capture, of this thread's or another's.
class Relaxed {
public:
    explicit Relaxed(const Driver& driver) : driver_(driver) { driver_.exchange_capture_mode(&mode_); }
    ~Relaxed() { driver_.exchange_capture_mode(&mode_); }
    Relaxed(const Relaxed&) = delete;
    Relaxed& operator=(const Relaxed&) = delete;

private:
    const Driver& driver_;
    int mode_ = relaxed;
};

/// Throws std::runtime_error, "WHAT: CUDA_ERROR_…", unless the result is success.
void check(const Driver& driver, Result result, const char* what);

}  // namespace normtune_torch
