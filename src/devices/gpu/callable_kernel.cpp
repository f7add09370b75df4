#include "devices/gpu/callable_kernel.h"

#include <algorithm>

#include <fmt/format.h>

namespace normtune::gpu {
namespace {

TensorAddresses addresses(const GpuBuffers& buffers, int set) {
    TensorAddresses out{};
    for (std::size_t role = 0; role < out.size(); ++role) {
        out[role] = buffers.pointer(static_cast<TensorRole>(role), set);
    }
    return out;
}

}  // namespace

CallableKernel::CallableKernel(const Driver& driver, std::unique_ptr<Callable> callable)
    : RotatingKernel(driver), callable_(std::move(callable)) {}

void CallableKernel::launch(const GpuBuffers& buffers, int set, DevicePointer /*workspace*/, Stream stream) const {
    callable_->launch(addresses(buffers, set), graph_, stream);
}

void CallableKernel::run_once(const GpuBuffers& buffers, int set, DevicePointer /*workspace*/, Stream stream) const {
    const TensorAddresses tensors = addresses(buffers, set);
    callable_->bind(tensors, stream);
    callable_->exchange(tensors, std::nullopt, false, stream);
    callable_->launch(tensors, std::nullopt, stream);
    callable_->exchange(tensors, std::nullopt, true, stream);
    if (!captures_) {
        check(driver_, driver_.stream_synchronize(stream), DeviceFault::launch_failed, "running the kernel");
        require_capture(tensors, stream);
        captures_ = true;
    }
}

void CallableKernel::require_capture(const TensorAddresses& tensors, Stream stream) const {
    if (driver_.stream_begin_capture(stream, capture_relaxed) != success) {
        return;  // no driver for graphs: it is timed without
    }
    OwnedGraph graph(driver_);
    std::string why;
    try {
        callable_->launch(tensors, std::nullopt, stream);
    } catch (const DeviceError& error) {
        why = error.what();
    }
    const Result ended = driver_.stream_end_capture(stream, graph.make());
    if (why.empty() && ended != success) {
        why = driver_.describe(ended);
    }
    if (!why.empty()) {
        throw DeviceError(DeviceFault::unsupported, fmt::format("it cannot be captured into a graph: {}", why));
    }
}

void CallableKernel::warm_up(const GpuBuffers& buffers, const RotationSize& size, Stream stream) const {
    constexpr int calibrated = 3;  // the sets that the timer launches on before there are graphs: nothing may have to wait there
    for (int set = 0; set < std::min(calibrated, size.sets); ++set) {
        callable_->bind(addresses(buffers, set), stream);
        launch(buffers, set, 0, stream);
    }
    check(driver_, driver_.stream_synchronize(stream), DeviceFault::launch_failed, "running the kernel");
}

void CallableKernel::around_capture(const GpuBuffers& buffers, const Window* window, Stream stream) const {
    graph_.reset();
    if (window == nullptr) {
        return;
    }
    for (int i = 0; i < std::min(window->launches, buffers.sets()); ++i) {
        callable_->bind(addresses(buffers, (window->first + i) % buffers.sets()), stream);
    }
    graph_ = window->first;
    has_graphs_ = true;
}

void CallableKernel::exchange(const GpuBuffers& buffers, int set, const Window& window, bool fetch, Stream stream) const {
    callable_->exchange(addresses(buffers, set), has_graphs_ ? std::optional(window.first) : std::nullopt, fetch, stream);
}

}  // namespace normtune::gpu
