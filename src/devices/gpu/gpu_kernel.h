// A configuration's kernels, loaded and ready to be launched on a problem's buffers.
#pragma once

#include <memory>
#include <vector>

#include "devices/device.h"
#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_timer.h"
#include "devices/gpu/owned.h"
#include "kernels/gpu/launch_plan.h"

namespace normtune::gpu {

class GpuKernel final : public Kernel {
public:
    /// `info` gets the occupancy that the driver tells. Throws DeviceError: compile_failed; unsupported where not all
    /// programs of a cooperative launch fit on the device at once, or not even one of another.
    GpuKernel(const Driver& driver, const void* image, LaunchPlan plan, CompileInfo info, const DeviceInfo& device, DeviceId id);
    const CompileInfo& info() const override { return info_; }
    std::int64_t workspace_bytes() const { return workspace_bytes_; }

    /// Queues one launch of each of its kernels. Throws DeviceError: launch_failed.
    void launch(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const;
    /// The rotation over these buffers, the one of earlier rounds where it is still the same.
    Rotation& rotation(const GpuBuffers& buffers, DevicePointer workspace, const RotationSize& size) const;
    /// Of that rotation: the sets that its next sample launches on.
    Window next_window() const { return rotation_ == nullptr ? Window{} : rotation_->next_window(); }

private:
    struct Step {
        Function function;
        Launch launch;
    };
    void launch(const Step& step, const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const;
    void check_occupancy(const DeviceInfo& device, DeviceId id);

    const Driver& driver_;
    OwnedModule module_;
    CompileInfo info_;
    std::string main_kernel_;
    std::vector<Step> steps_;
    std::int64_t workspace_bytes_;
    // Graphs hold addresses: they go with the buffers and the workspace that they were made for.
    mutable std::unique_ptr<Rotation> rotation_;
    mutable DevicePointer rotation_buffers_ = 0;
    mutable DevicePointer rotation_workspace_ = 0;
    mutable RotationSize rotation_size_;
};

/// A kernel that is none of a configuration's: one dimension, no shared memory. Throws DeviceError: launch_failed.
void launch_plain(const Driver& driver, Function function, std::int64_t grid, int block, void** arguments, Stream stream);

}  // namespace normtune::gpu
