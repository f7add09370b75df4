#include "devices/gpu/rotating_kernel.h"

namespace normtune::gpu {

Rotation& RotatingKernel::rotation(const GpuBuffers& buffers, DevicePointer workspace, const RotationSize& size, Stream stream) const {
    const DevicePointer first = buffers.pointer(TensorRole::x, 0);
    if (rotation_ == nullptr || rotation_buffers_ != first || rotation_workspace_ != workspace || rotation_size_ != size) {
        warm_up(buffers, size, stream);
        rotation_ = std::make_unique<Rotation>(
            driver_, [this, &buffers, workspace](int set, Stream on) { launch(buffers, set, workspace, on); }, size,
            [this, &buffers, stream](const Window* window) { around_capture(buffers, window, stream); });
        rotation_buffers_ = first;
        rotation_workspace_ = workspace;
        rotation_size_ = size;
    }
    return *rotation_;
}

}  // namespace normtune::gpu
