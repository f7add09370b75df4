// Buffer sets of one problem in main memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "devices/cpu/arena.h"
#include "devices/cpu/copy_limit.h"
#include "devices/cpu/cpu_kernel.h"
#include "devices/cpu/pattern.h"
#include "devices/cpu/thread_pool.h"
#include "devices/device.h"

namespace normtune::cpu {

/// What buffers share with their device, and with the device's other buffers.
struct Memory {
    Memory(const std::vector<int>& cpus, const PassSet& set) : pool(cpus), passes(set) {}
    ThreadPool pool;
    const PassSet& passes;
    Arena arena;
    std::array<Pattern, dtype_names.names.size()> normal;  // N(0, 1), drawn on first use
    Pattern rstd;                                          // fp32, near 1
};

/// A set lies in one piece: inputs, then outputs. Behind each tensor is room for a line, which copies may touch.
class CpuBuffers final : public Buffers {
public:
    /// Throws DeviceError (out_of_memory).
    CpuBuffers(std::shared_ptr<Memory> memory, const Problem& problem, const BufferRequest& request);
    ~CpuBuffers() override;
    CpuBuffers(const CpuBuffers&) = delete;
    CpuBuffers& operator=(const CpuBuffers&) = delete;

    int sets() const override { return sets_; }
    std::int64_t rotation_bytes() const override { return sets_ * tensor_bytes_; }
    void upload(TensorRole role, int set, std::span<const std::byte> bytes) override;
    void fill(TensorRole role, int set, std::uint32_t word, std::int64_t bytes) override;
    void download(TensorRole role, int set, std::span<std::byte> bytes) const override;
    std::int64_t guard_bytes() const override { return guard_bytes_; }
    void fill_guard(TensorRole role, int set, std::uint32_t word) override;
    void download_guard(TensorRole role, int set, std::span<std::byte> bytes) const override;

    const Problem& problem() const { return problem_; }
    TensorPointers pointers(int set) const;

    /// The set for the next launch; goes round all sets, so that a set comes back only after all others.
    int next_set();
    int upcoming_set() const { return last_set_ ? (*last_set_ + 1) % sets_ : 0; }
    /// Where the rotation starts; only the first call has an effect: later calls go on where the last one ended.
    void start_rotation(std::uint64_t seed);

    /// Of the sets that launches have rotated over so far.
    std::int64_t touched_bytes() const { return std::min<std::int64_t>(launches_, sets_) * tensor_bytes_; }

    const Copies& copies() const { return copies_; }
    std::optional<CopyMethod> copy_method;  // once it is known

    /// Notes a launch that wrote over inputs (dx over dy); true: it is due to be restored before it grows or vanishes.
    bool wears_out(int set);
    /// Puts the original inputs back, past the caches.
    void restore(Team& team, int set);

private:
    struct Place {
        Tensor tensor;
        std::int64_t offset;  // from the start of a set; one of all sets: of the block
    };
    const Place& place(TensorRole role) const;
    /// The whole tensor of a set, `bytes` long. Throws std::invalid_argument: there is none such.
    std::span<std::byte> whole(TensorRole role, int set, std::size_t bytes) const;
    std::byte* location(const Place& place, int set) const;
    /// In front of the tensor, and behind it.
    std::array<std::span<std::byte>, 2> guard(TensorRole role, int set) const;
    void lay_out();
    int affordable_sets(std::int64_t rotation_bytes) const;
    void fill(Team& team);
    void fill_input(Team& team, const Place& place, int first_set, int end_set);
    const Pattern& pattern(Team& team, const Place& place);
    void touch_outputs(Team& team) const;

    std::shared_ptr<Memory> memory_;
    Problem problem_;
    Copies copies_;
    std::uint64_t seed_;
    std::int64_t guard_bytes_;
    std::vector<Place> places_;
    std::int64_t shared_bytes_ = 0;  // weights are one tensor each for all sets, at the start of the block
    std::int64_t tensor_bytes_ = 0;  // of a set, weights not counted
    std::int64_t inputs_bytes_ = 0;  // where a set's outputs start
    std::int64_t set_bytes_ = 0;
    int sets_ = 1;
    Block block_;
    std::optional<int> last_set_;
    std::int64_t launches_ = 0;
    bool overwrites_ = false;  // in place: outputs are written over inputs
    std::vector<int> wear_;    // launches since it was filled
};

}  // namespace normtune::cpu
