#include "devices/gpu/copy_limit.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "devices/gpu/gpu_kernel.h"

namespace normtune::gpu {

void CopyLimit::forget() {
    copy_.reset();
    place_.reset();
}

// unroll 0: the driver's own copy.
Enqueue CopyLimit::copy_with(DevicePointer place, int unroll, std::int64_t bytes, std::int64_t stride, int sets) const {
    const Function function = unroll > 0 ? function_of(driver_, utilities_, fmt::format("nt_copy_{}", unroll).c_str()) : nullptr;
    return [this, place, function, unroll, bytes, stride, sets](int set, Stream stream) {
        DevicePointer from = place + static_cast<DevicePointer>(2 * stride * (set % sets));
        DevicePointer to = from + static_cast<DevicePointer>(stride);
        if (function == nullptr) {
            check(driver_, driver_.copy_on_device_async(to, from, static_cast<std::size_t>(bytes), stream), DeviceFault::launch_failed,
                  "copying");
            return;
        }
        long long vectors = bytes / 16;
        constexpr int block = 512;
        const std::int64_t in_program = std::int64_t{block} * unroll;
        std::array<void*, 3> arguments{&from, &to, &vectors};
        launch_plain(driver_, function, (vectors + in_program - 1) / in_program, block, arguments.data(), stream);
    };
}

Rotation& CopyLimit::rotation(const GpuBuffers& buffers, const RotationSize& size, const std::function<double(Rotation&)>& trial_us) {
    const DevicePointer arena = buffers.pointer(TensorRole::x, 0);
    const bool cold = size.least_cold_bytes > 0;
    if (copy_ && buffers_ == arena && cold_ == cold) {
        return *copy_;
    }
    // In whole 16-byte vectors, over the kernel's own buffers; `full` moves more than one set holds, so that it may need a
    // place of its own.
    const std::int64_t bytes = std::max<std::int64_t>(16, least_bytes(buffers.problem()) / 2 / 16 * 16);
    const std::int64_t stride = (bytes + 511) / 512 * 512;
    DevicePointer place = arena;
    int sets = static_cast<int>(buffers.rotation_bytes() / (2 * stride));
    if (sets < 1) {
        sets = 1;
        place_ = allocate(driver_, 2 * stride, "allocating the copy's buffers");
        place = place_->get();
    }
    RotationSize own = size;
    own.sets = cold ? sets : 1;
    own.set_bytes = 2 * bytes;
    double best = 0;
    std::optional<Rotation> fastest;
    for (const int unroll : {0, 1, 2, 4, 8}) {
        Rotation rotation(driver_, copy_with(place, unroll, bytes, stride, sets), own);
        const double us = trial_us(rotation);
        if (!fastest || us < best) {
            best = us;
            fastest.emplace(std::move(rotation));
        }
    }
    copy_.emplace(std::move(*fastest));
    buffers_ = arena;
    cold_ = cold;
    return *copy_;
}

}  // namespace normtune::gpu
