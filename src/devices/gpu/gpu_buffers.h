// Buffer sets on a GPU: one allocation, the sets one after another, gamma once for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "devices/device.h"
#include "devices/gpu/owned.h"

namespace normtune::gpu {

/// How many sets of `set_bytes` make a rotation of `rotation_bytes` where there is room for `room` bytes: two at the
/// least if there is room for them, one for 0, the hot run's and verification's.
int rotating_sets(std::int64_t rotation_bytes, std::int64_t set_bytes, std::int64_t room);

class GpuBuffers final : public Buffers {
public:
    /// Allocates and fills with random values. Throws DeviceError: out_of_memory where not even one set fits.
    GpuBuffers(const Driver& driver, const Problem& problem, const BufferRequest& request, Stream stream);
    int sets() const override { return sets_; }
    std::int64_t rotation_bytes() const override { return sets_ * set_bytes_; }
    void upload(TensorRole role, int set, std::span<const std::byte> bytes) override;
    void download(TensorRole role, int set, std::span<std::byte> bytes) const override;
    void fill(TensorRole role, int set, std::uint32_t word, std::int64_t bytes) override;
    std::int64_t guard_bytes() const override { return guard_bytes_; }
    void fill_guard(TensorRole role, int set, std::uint32_t word) override;
    void download_guard(TensorRole role, int set, std::span<std::byte> bytes) const override;

    std::uint64_t address(TensorRole role, int set) const override { return pointer(role, set); }

    const Problem& problem() const { return problem_; }
    std::int64_t set_bytes() const { return set_bytes_; }
    /// Null (0) for a tensor that the problem does not have.
    DevicePointer pointer(TensorRole role, int set) const;

private:
    void fill(std::uint64_t seed, Stream stream);
    const Tensor& tensor(TensorRole role) const;
    DevicePointer at(TensorRole role, int set, std::size_t bytes) const;
    /// In front of the tensor, and behind it.
    std::array<DevicePointer, 2> guard(TensorRole role, int set) const;

    const Driver& driver_;
    Problem problem_;
    std::vector<Tensor> tensors_;
    std::array<std::int64_t, tensor_names.names.size()> offsets_{};  // in a set, or in what all sets share; −1: no such tensor
    std::uint32_t shared_roles_ = 0;                                 // bit r: all sets share the tensor of role r
    std::int64_t guard_bytes_ = 0;
    OwnedMemory arena_;  // the sets, then what they share
    std::int64_t set_bytes_ = 0;
    int sets_ = 0;
};

}  // namespace normtune::gpu
