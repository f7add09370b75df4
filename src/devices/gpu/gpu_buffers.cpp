#include "devices/gpu/gpu_buffers.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "problem/elements.h"

namespace normtune::gpu {

namespace {

constexpr std::int64_t alignment = 512;  // no two tensors share a line or a DRAM burst
// Over one set a kernel's time depends on what else is measured and on the tensors' distance from each other, by up to
// 3% on an H100 (docs/cuda.md).
constexpr std::int64_t least_rotating_sets = 2;
constexpr int most_sets = 512;  // beyond it samples are kept cold by evicting the L2 between them
// Bytes drawn on the host, then repeated on the device: 2 MiB and a bit, a prime times the alignment, so that neither sets nor a tensor's
// rows repeat with it.
constexpr std::int64_t random_block = 4099 * alignment;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// `count` values of `dtype` from mean + deviation · N(0, 1).
std::vector<std::byte> random_values(Dtype dtype, std::int64_t count, float mean, float deviation, std::mt19937_64& random) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::normal_distribution<float> normal(mean, deviation);
    // One table of draws, read at random places: normal draws one by one would take longer than the measurement.
    std::array<float, 4096> table{};
    std::generate(table.begin(), table.end(), [&] { return normal(random); });
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        bits = i % 5 == 0 ? random() : bits >> 12;
        values[i] = table[bits & 4095];
    }
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(dtype)));
    encode(dtype, values, 0, bytes.data());
    return bytes;
}

}  // namespace

int rotating_sets(std::int64_t rotation_bytes, std::int64_t set_bytes, std::int64_t room) {
    const std::int64_t wanted = rotation_bytes == 0 ? 1 : std::max(least_rotating_sets, (rotation_bytes + set_bytes - 1) / set_bytes);
    return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, room / set_bytes), 1, most_sets));
}

GpuBuffers::GpuBuffers(const Driver& driver, const Problem& problem, const BufferRequest& request, Stream stream)
    : driver_(driver), problem_(problem), tensors_(tensors(problem)), guard_bytes_(request.guard_bytes), arena_(driver) {
    offsets_.fill(-1);
    std::int64_t shared_bytes = 0;
    for (const Tensor& tensor : tensors_) {
        if (tensor.shared()) {
            offsets_[static_cast<std::size_t>(tensor.role)] = shared_bytes + guard_bytes_;
            shared_roles_ |= 1U << static_cast<unsigned>(tensor.role);
            shared_bytes += aligned(tensor.span_bytes() + 2 * guard_bytes_);
        } else {
            offsets_[static_cast<std::size_t>(tensor.role)] = set_bytes_ + guard_bytes_;
            set_bytes_ += aligned(tensor.span_bytes() + 2 * guard_bytes_);
        }
    }
    std::size_t free = 0;
    std::size_t total = 0;
    check(driver_, driver_.memory_get_info(&free, &total), DeviceFault::launch_failed, "asking for free memory");
    const auto room = static_cast<std::int64_t>(free) * 9 / 10 - shared_bytes;
    sets_ = rotating_sets(request.rotation_bytes, set_bytes_, room);
    if (set_bytes_ + shared_bytes > static_cast<std::int64_t>(free)) {
        throw DeviceError(DeviceFault::out_of_memory, fmt::format("{} needs {} MiB, the device has {} MiB free", problem.key(),
                                                                  (set_bytes_ + shared_bytes) >> 20, free >> 20));
    }
    arena_ = allocate(driver_, set_bytes_ * sets_ + shared_bytes, "allocating buffers");
    fill(request.seed, stream);
}

void GpuBuffers::fill(std::uint64_t seed, Stream stream) {
    std::mt19937_64 random(seed);
    const Dtype dtype = problem_.operation.dtype;
    const auto arena_bytes = static_cast<std::size_t>(set_bytes_ * sets_);
    const std::int64_t drawn = std::min(random_block, set_bytes_ * sets_);
    const std::vector<std::byte> values = random_values(dtype, drawn / bytes_of(dtype), 0, 1, random);
    const auto run = [&](Result result) { check(driver_, result, DeviceFault::launch_failed, "filling the buffers"); };
    // The whole arena: outputs too, so that no page is touched for the first time inside a measurement.
    run(driver_.copy_to_device(arena_.get(), values.data(), values.size()));
    for (std::size_t filled = values.size(); filled < arena_bytes;) {
        const std::size_t bytes = std::min(filled, arena_bytes - filled);
        run(driver_.copy_on_device_async(arena_.get() + filled, arena_.get(), bytes, stream));
        filled += bytes;
    }
    run(driver_.stream_synchronize(stream));
    for (const Tensor& tensor : tensors_) {
        if (tensor.shared()) {
            const auto mean = static_cast<float>(1 - problem_.operation.offset);
            const std::vector<std::byte> gamma = random_values(tensor.dtype, tensor.cols, mean, 0.1F, random);
            run(driver_.copy_to_device(pointer(tensor.role, 0), gamma.data(), gamma.size()));
        } else if (tensor.kind == TensorKind::statistic && tensor.access == Access::in) {
            const std::vector<std::byte> rstd = random_values(tensor.dtype, tensor.rows, 1.0F, 0.01F, random);
            for (int set = 0; set < sets_; ++set) {
                run(driver_.copy_to_device(pointer(tensor.role, set), rstd.data(), rstd.size()));
            }
        }
    }
}

DevicePointer GpuBuffers::pointer(TensorRole role, int set) const {
    const std::int64_t offset = offsets_[static_cast<std::size_t>(role)];
    const bool shared = (shared_roles_ >> static_cast<unsigned>(role) & 1U) != 0;
    return offset < 0 ? 0 : arena_.get() + static_cast<DevicePointer>((shared ? sets_ : set) * set_bytes_ + offset);
}

const Tensor& GpuBuffers::tensor(TensorRole role) const {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.role == role; });
    if (found == tensors_.end()) {
        throw std::logic_error(fmt::format("no tensor {}", tensor_names.name(role)));
    }
    return *found;
}

DevicePointer GpuBuffers::at(TensorRole role, int set, std::size_t bytes) const {
    if (set < 0 || set >= sets_ || static_cast<std::int64_t>(bytes) != tensor(role).span_bytes()) {
        throw std::logic_error(fmt::format("no tensor {} of {} bytes in set {}", tensor_names.name(role), bytes, set));
    }
    return pointer(role, set);
}

void GpuBuffers::upload(TensorRole role, int set, std::span<const std::byte> bytes) {
    check(driver_, driver_.copy_to_device(at(role, set, bytes.size()), bytes.data(), bytes.size()), DeviceFault::launch_failed,
          "copying to the device");
}

void GpuBuffers::download(TensorRole role, int set, std::span<std::byte> bytes) const {
    check(driver_, driver_.copy_to_host(bytes.data(), at(role, set, bytes.size()), bytes.size()), DeviceFault::launch_failed,
          "copying from the device");
}

void GpuBuffers::fill(TensorRole role, int set, std::uint32_t word, std::int64_t bytes) {
    const DevicePointer to = at(role, set, static_cast<std::size_t>(bytes));
    const auto words = static_cast<std::size_t>(bytes / 4);
    constexpr Stream ordered_with_copies = nullptr;
    check(driver_, driver_.set_u32_async(to, word, words, ordered_with_copies), DeviceFault::launch_failed, "filling a tensor");
    check(driver_, driver_.copy_to_device(to + 4 * words, &word, static_cast<std::size_t>(bytes) - 4 * words), DeviceFault::launch_failed,
          "filling a tensor");
}

std::array<DevicePointer, 2> GpuBuffers::guard(TensorRole role, int set) const {
    const DevicePointer at = pointer(role, set);
    return {at - static_cast<DevicePointer>(guard_bytes_), at + static_cast<DevicePointer>(tensor(role).span_bytes())};
}

// By copies: a tensor of 16 bits may end between two words.
void GpuBuffers::fill_guard(TensorRole role, int set, std::uint32_t word) {
    std::vector<std::byte> words(static_cast<std::size_t>(guard_bytes_));
    repeat_word(word, words);
    for (const DevicePointer side : guard(role, set)) {
        check(driver_, driver_.copy_to_device(side, words.data(), words.size()), DeviceFault::launch_failed, "copying to the device");
    }
}

void GpuBuffers::download_guard(TensorRole role, int set, std::span<std::byte> bytes) const {
    const auto half = static_cast<std::size_t>(guard_bytes_);
    for (const DevicePointer side : guard(role, set)) {
        check(driver_, driver_.copy_to_host(bytes.data(), side, half), DeviceFault::launch_failed, "copying from the device");
        bytes = bytes.subspan(half);
    }
}

}  // namespace normtune::gpu
