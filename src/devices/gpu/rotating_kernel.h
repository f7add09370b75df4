// What a GPU's timer measures: whatever queues an op on one of a problem's buffer sets.
#pragma once

#include <memory>

#include "devices/device.h"
#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_timer.h"

namespace normtune::gpu {

class RotatingKernel : public Kernel {
public:
    explicit RotatingKernel(const Driver& driver) : driver_(driver) {}

    virtual std::int64_t workspace_bytes() const { return 0; }
    /// Queues the op once. Throws DeviceError: launch_failed.
    virtual void launch(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const = 0;
    /// Once by itself, the outputs in the buffers at the end of the stream.
    virtual void run_once(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const {
        launch(buffers, set, workspace, stream);
    }
    /// Before the rotation is timed for the first time.
    virtual void warm_up(const GpuBuffers& /*buffers*/, const RotationSize& /*size*/, Stream /*stream*/) const {}
    /// Before launches of a window are captured into a graph, and after (null).
    virtual void around_capture(const GpuBuffers& /*buffers*/, const Window* /*window*/, Stream /*stream*/) const {}
    /// Outputs that are not in the buffers: see Callable::exchange. Of the next window's graph.
    virtual void exchange(const GpuBuffers& /*buffers*/, int /*set*/, const Window& /*window*/, bool /*fetch*/, Stream /*stream*/) const {}

    /// The rotation over these buffers, the one of earlier rounds where it is still the same.
    Rotation& rotation(const GpuBuffers& buffers, DevicePointer workspace, const RotationSize& size, Stream stream) const;
    /// The sets that its next sample over this workspace launches on. Another workspace makes another rotation, which begins with its first
    /// window.
    Window next_window(DevicePointer workspace) const {
        return rotation_ == nullptr || rotation_workspace_ != workspace ? Window{} : rotation_->next_window();
    }

protected:
    const Driver& driver_;

private:
    // Graphs hold addresses: they go with the buffers and the workspace that they were made for.
    mutable std::unique_ptr<Rotation> rotation_;
    mutable DevicePointer rotation_buffers_ = 0;
    mutable DevicePointer rotation_workspace_ = 0;
    mutable RotationSize rotation_size_;
};

}  // namespace normtune::gpu
