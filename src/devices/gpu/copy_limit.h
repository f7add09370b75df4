// The limit: the fastest plain copy of a problem's least bytes.
#pragma once

#include <functional>
#include <optional>

#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_timer.h"

namespace normtune::gpu {

class CopyLimit {
public:
    /// `utilities`: the module of utility_kernels.h; it outlives this.
    CopyLimit(const Driver& driver, const OwnedModule& utilities) : driver_(driver), utilities_(utilities) {}

    /// The rotation of the fastest copy over these buffers, chosen by a short trial of each where it is not known yet. As
    /// many bytes as the op's least, half of them read and half written. `size` as the kernels' of the same request.
    Rotation& rotation(const GpuBuffers& buffers, const RotationSize& size, const std::function<double(Rotation&)>& trial_us);
    /// Before other buffers are made, which may lie where the old ones did.
    void forget();

private:
    Enqueue copy_with(DevicePointer place, int unroll, std::int64_t bytes, std::int64_t stride, int sets) const;

    const Driver& driver_;
    const OwnedModule& utilities_;
    std::optional<OwnedMemory> place_;  // where a copy moves more than one set holds
    std::optional<Rotation> copy_;
    DevicePointer buffers_ = 0;
    bool cold_ = true;
};

}  // namespace normtune::gpu
