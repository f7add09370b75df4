// A configuration's kernels, loaded and ready to be launched on a problem's buffers.
#pragma once

#include <memory>
#include <vector>

#include "devices/device.h"
#include "devices/gpu/owned.h"
#include "devices/gpu/rotating_kernel.h"
#include "kernels/gpu/launch_plan.h"

namespace normtune::gpu {

class GpuKernel final : public RotatingKernel {
public:
    /// `info` gets the occupancy that the driver tells. Throws DeviceError: compile_failed; unsupported where not all
    /// programs of a cooperative launch fit on the device at once, or not even one of another.
    GpuKernel(const Driver& driver, const void* image, LaunchPlan plan, CompileInfo info, const DeviceInfo& device, DeviceId id);
    const CompileInfo& info() const override { return info_; }
    std::int64_t workspace_bytes() const override { return workspace_bytes_; }

    /// Queues one launch of each of its kernels.
    void launch(const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const override;

private:
    struct Step {
        Function function;
        Launch launch;
    };
    void launch(const Step& step, const GpuBuffers& buffers, int set, DevicePointer workspace, Stream stream) const;
    void check_occupancy(const DeviceInfo& device, DeviceId id);

    OwnedModule module_;
    CompileInfo info_;
    std::string main_kernel_;
    std::vector<Step> steps_;
    std::int64_t workspace_bytes_;
};

/// A kernel that is none of a configuration's: one dimension. `overlaps`, `shared_bytes`: LaunchShape. Throws DeviceError: launch_failed.
void launch_plain(const Driver& driver, Function function, std::int64_t grid, int block, void** arguments, Stream stream,
                  bool overlaps = false, int shared_bytes = 0);

}  // namespace normtune::gpu
