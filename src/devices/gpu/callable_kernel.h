// A callable of this process on a problem's buffers: bound to each set before it is timed, captured into the timer's graphs.
#pragma once

#include <memory>
#include <optional>

#include "devices/callables.h"
#include "devices/gpu/rotating_kernel.h"

namespace normtune::gpu {

class CallableKernel final : public RotatingKernel {
public:
    CallableKernel(const Driver& driver, std::unique_ptr<Callable> callable);

    const CompileInfo& info() const override { return info_; }
    void launch(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const override;
    /// The first time it is also captured. Throws DeviceError: unsupported where that fails.
    void run_once(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const override;
    void warm_up(const GpuBuffers& buffers, const RotationSize& size, Stream stream) const override;
    void around_capture(const GpuBuffers& buffers, const Window* window, Stream stream) const override;
    void exchange(const GpuBuffers& buffers, int set, const Window& window, bool fetch, Stream stream) const override;

private:
    void require_capture(const TensorAddresses& tensors, Stream stream) const;

    std::unique_ptr<Callable> callable_;
    const CompileInfo info_;            // what Python code runs is not known
    mutable std::optional<int> graph_;  // that is being captured
    mutable bool has_graphs_ = false;   // else outputs are those of launches outside of graphs
    mutable bool captures_ = false;     // it is known that it does
};

}  // namespace normtune::gpu
