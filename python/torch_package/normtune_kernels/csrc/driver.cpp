#include "driver.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace normtune_torch {
namespace {

template <typename Pointer>
bool find(void* library, const char* name, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(dlsym(library, name));
    return pointer != nullptr;
}

const Driver* opened() {
    static Driver d{};
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const bool whole =
        library != nullptr && find(library, "cuGetErrorName", d.get_error_name) && find(library, "cuDeviceGet", d.device_get) &&
        find(library, "cuDeviceGetName", d.device_get_name) && find(library, "cuDeviceGetAttribute", d.device_get_attribute) &&
        find(library, "cuDevicePrimaryCtxRetain", d.primary_context_retain) && find(library, "cuCtxGetCurrent", d.context_get_current) &&
        find(library, "cuCtxSetCurrent", d.context_set_current) && find(library, "cuModuleLoadData", d.module_load_data) &&
        find(library, "cuModuleGetFunction", d.module_get_function) && find(library, "cuFuncSetAttribute", d.function_set_attribute) &&
        find(library, "cuStreamIsCapturing", d.stream_is_capturing) &&
        find(library, "cuThreadExchangeStreamCaptureMode", d.exchange_capture_mode) &&
        find(library, "cuStreamGetCaptureInfo_v2", d.stream_get_capture_info) &&
        find(library, "cuUserObjectCreate", d.user_object_create) && find(library, "cuUserObjectRelease", d.user_object_release) &&
        find(library, "cuGraphRetainUserObject", d.graph_retain_user_object) && find(library, "cuMemAlloc_v2", d.memory_allocate) &&
        find(library, "cuMemsetD8Async", d.memory_set) && find(library, "cuStreamCreate", d.stream_create) &&
        find(library, "cuStreamSynchronize", d.stream_synchronize) && find(library, "cuLaunchKernelEx", d.launch_kernel);
    return whole ? &d : nullptr;
}

}  // namespace

const Driver* load_driver() {
    static const Driver* const driver = opened();
    return driver;
}

void check(const Driver& driver, Result result, const char* what) {
    if (result != 0) {
        const char* name = nullptr;
        const bool named = driver.get_error_name(result, &name) == 0 && name != nullptr;
        throw std::runtime_error(std::string(what) + ": " + (named ? name : "CUDA error " + std::to_string(result)));
    }
}

}  // namespace normtune_torch
