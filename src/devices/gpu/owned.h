// What a driver hands out and takes back: released wherever its owner ends.
#pragma once

#include <utility>

#include "devices/gpu/driver.h"

namespace normtune::gpu {

template <typename Handle, Result (*Driver::*release)(Handle)>
class Owned {
public:
    explicit Owned(const Driver& driver) : driver_(&driver) {}
    ~Owned() { reset(); }
    Owned(Owned&& other) noexcept : driver_(other.driver_), handle_(std::exchange(other.handle_, Handle{})) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(driver_, other.driver_);
        std::swap(handle_, other.handle_);
        return *this;
    }

    Handle get() const { return handle_; }
    /// For the driver's function that makes one. What was held is released first.
    Handle* make() {
        reset();
        return &handle_;
    }
    void reset() {
        if (handle_ != Handle{}) {
            (driver_->*release)(std::exchange(handle_, Handle{}));
        }
    }

private:
    const Driver* driver_;
    Handle handle_{};
};

using OwnedMemory = Owned<DevicePointer, &Driver::memory_free>;
using OwnedHostMemory = Owned<void*, &Driver::memory_free_host>;
using OwnedModule = Owned<Module, &Driver::module_unload>;
using OwnedEvent = Owned<Event, &Driver::event_destroy>;
using OwnedGraph = Owned<Graph, &Driver::graph_destroy>;
using OwnedGraphExec = Owned<GraphExec, &Driver::graph_exec_destroy>;

/// Throw DeviceError: out_of_memory, or launch_failed where the device is broken already; compile_failed.
OwnedMemory allocate(const Driver& driver, std::int64_t bytes, const char* doing);
OwnedModule load_module(const Driver& driver, const void* image);
Function function_of(const Driver& driver, const OwnedModule& module, const char* name);

}  // namespace normtune::gpu
