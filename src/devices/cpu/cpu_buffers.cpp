#include "devices/cpu/cpu_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace normtune::cpu {

namespace {

constexpr std::int64_t page = 4096;
/// Pieces that are filled and copied by one thread at a time.
constexpr std::int64_t piece_bytes = 1 << 20;
/// In place, dx grows by up to gamma's largest value a launch in dy's place, s by y in the residual's: fp16 bears this many.
constexpr int most_wear = 8;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t to) {
    return (bytes + to - 1) / to * to;
}

bool is_input(const Tensor& tensor) {
    return tensor.access != Access::out;
}

/// Runs body(task) for every task, on whichever thread is free.
template <class Body>
void for_each_task(Team& team, std::int64_t tasks, const Body& body) {
    std::atomic<std::int64_t> next{0};
    auto work = [&](int) {
        for (std::int64_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
            body(task);
        }
    };
    team.fork(work);
}

}  // namespace

CpuBuffers::CpuBuffers(std::shared_ptr<Memory> memory, const Problem& problem, const BufferRequest& request)
    : memory_(std::move(memory)),
      problem_(problem),
      copies_(problem, memory_->passes),
      seed_(request.seed),
      guard_bytes_(request.guard_bytes) {
    lay_out();
    sets_ = affordable_sets(request.rotation_bytes);
    try {
        block_ = memory_->arena.take(shared_bytes_ + sets_ * set_bytes_);
        wear_.assign(static_cast<std::size_t>(sets_), 0);
        memory_->pool.lead([&](Team& team) {
            fill(team);
            touch_outputs(team);
        });
    } catch (const std::bad_alloc&) {
        throw DeviceError(DeviceFault::out_of_memory,
                          fmt::format("{} MiB of main memory are not to be had", (shared_bytes_ + sets_ * set_bytes_) >> 20));
    }
}

CpuBuffers::~CpuBuffers() {
    memory_->arena.give_back(std::move(block_));
}

void CpuBuffers::lay_out() {
    for (const Tensor& tensor : tensors(problem_)) {
        tensor_bytes_ += tensor.shared() ? 0 : tensor.span_bytes();
    }
    // Tensors that start at the same place of a page hold up each other's loads: each starts somewhere else. Of a short problem
    // there are up to a million sets: they take little more than their tensors.
    const bool is_short = tensor_bytes_ < 16 * page;
    const std::int64_t apart = tensor_bytes_ < page ? 0 : 9 * cache_line_bytes;
    const std::int64_t unit = is_short ? cache_line_bytes : page;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    int index = 0;
    for (const Tensor& tensor : tensors(problem_)) {
        if (tensor.shared()) {
            places_.push_back({tensor, shared_bytes_ + guard_bytes_});
            shared_bytes_ += rounded_up(tensor.span_bytes() + 2 * guard_bytes_ + cache_line_bytes, page);
            continue;
        }
        overwrites_ = overwrites_ || tensor.access == Access::in_out;
        const std::int64_t stagger = is_short ? apart : apart * ++index;
        std::int64_t& end = is_input(tensor) ? inputs : outputs;
        places_.push_back({tensor, end + stagger + guard_bytes_});
        end = rounded_up(end + stagger + tensor.span_bytes() + 2 * guard_bytes_ + cache_line_bytes, cache_line_bytes);
    }
    inputs_bytes_ = rounded_up(inputs, unit);
    set_bytes_ = inputs_bytes_ + rounded_up(outputs, unit);
    for (Place& place : places_) {
        if (!is_input(place.tensor)) {
            place.offset += inputs_bytes_;
        }
    }
}

int CpuBuffers::affordable_sets(std::int64_t rotation_bytes) const {
    constexpr std::int64_t most_sets = 1 << 20;
    const std::int64_t wanted = std::clamp<std::int64_t>((rotation_bytes + tensor_bytes_ - 1) / tensor_bytes_, 1, most_sets);
    const std::int64_t available = memory_->arena.available_bytes() / 10 * 9;
    if (available == 0) {
        return static_cast<int>(wanted);
    }
    if (shared_bytes_ + set_bytes_ > available) {
        throw DeviceError(DeviceFault::out_of_memory, fmt::format("one set of tensors takes {} MiB, {} MiB are available",
                                                                  (shared_bytes_ + set_bytes_) >> 20, available >> 20));
    }
    return static_cast<int>(std::min(wanted, (available - shared_bytes_) / set_bytes_));
}

const CpuBuffers::Place& CpuBuffers::place(TensorRole role) const {
    const auto found = std::find_if(places_.begin(), places_.end(), [role](const Place& p) { return p.tensor.role == role; });
    if (found == places_.end()) {
        throw std::invalid_argument(fmt::format("the problem has no tensor {}", tensor_names.name(role)));
    }
    return *found;
}

std::byte* CpuBuffers::location(const Place& place, int set) const {
    return block_.data() + place.offset + (place.tensor.shared() ? 0 : shared_bytes_ + set * set_bytes_);
}

std::span<std::byte> CpuBuffers::whole(TensorRole role, int set, std::size_t bytes) const {
    const Place& at = place(role);
    if (set < 0 || set >= sets_ || std::cmp_not_equal(bytes, at.tensor.span_bytes())) {
        throw std::invalid_argument(fmt::format("{}: wrong set or size", tensor_names.name(role)));
    }
    return {location(at, set), bytes};
}

void CpuBuffers::upload(TensorRole role, int set, std::span<const std::byte> bytes) {
    std::memcpy(whole(role, set, bytes.size()).data(), bytes.data(), bytes.size());
}

void CpuBuffers::fill(TensorRole role, int set, std::uint32_t word, std::int64_t bytes) {
    repeat_word(word, whole(role, set, static_cast<std::size_t>(bytes)));
}

void CpuBuffers::download(TensorRole role, int set, std::span<std::byte> bytes) const {
    std::memcpy(bytes.data(), whole(role, set, bytes.size()).data(), bytes.size());
}

std::array<std::span<std::byte>, 2> CpuBuffers::guard(TensorRole role, int set) const {
    const Place& at = place(role);
    const auto bytes = static_cast<std::size_t>(guard_bytes_);
    std::byte* const tensor = location(at, set);
    return {std::span(tensor - guard_bytes_, bytes), std::span(tensor + at.tensor.span_bytes(), bytes)};
}

void CpuBuffers::fill_guard(TensorRole role, int set, std::uint32_t word) {
    for (const std::span<std::byte> side : guard(role, set)) {
        repeat_word(word, side);
    }
}

void CpuBuffers::download_guard(TensorRole role, int set, std::span<std::byte> bytes) const {
    auto to = bytes.begin();
    for (const std::span<std::byte> side : guard(role, set)) {
        to = std::ranges::copy(side, to).out;
    }
}

TensorPointers CpuBuffers::pointers(int set) const {
    TensorPointers pointers{};
    for (const Place& place : places_) {
        pointers[static_cast<std::size_t>(place.tensor.role)] = pointers[static_cast<std::size_t>(place.tensor.result)] =
            location(place, set);
    }
    return pointers;
}

void CpuBuffers::start_rotation(std::uint64_t seed) {
    if (!last_set_) {
        last_set_ = static_cast<int>(mixed(seed) % static_cast<std::uint64_t>(sets_));
    }
}

int CpuBuffers::next_set() {
    last_set_ = (last_set_.value_or(-1) + 1) % sets_;
    ++launches_;
    return *last_set_;
}

bool CpuBuffers::wears_out(int set) {
    return overwrites_ && ++wear_[static_cast<std::size_t>(set)] >= most_wear;
}

void CpuBuffers::restore(Team& team, int set) {
    for (const Place& place : places_) {
        if (place.tensor.access == Access::in_out) {
            fill_input(team, place, set, set + 1);
        }
    }
    wear_[static_cast<std::size_t>(set)] = 0;
}

const Pattern& CpuBuffers::pattern(Team& team, const Place& place) {
    constexpr std::uint64_t pattern_seed = 0x6e6f726d;
    if (place.tensor.kind == TensorKind::statistic) {
        if (memory_->rstd.empty()) {
            // What rows of N(0, 1) have: near 1, the nearer the wider the row.
            memory_->rstd = Pattern::normal(team, Dtype::fp32, 1.0F, 0.01F, pattern_seed + 1);
        }
        return memory_->rstd;
    }
    Pattern& normal = memory_->normal[static_cast<std::size_t>(place.tensor.dtype)];
    if (normal.empty()) {
        normal = Pattern::normal(team, place.tensor.dtype, 0.0F, 1.0F, pattern_seed);
    }
    return normal;
}

void CpuBuffers::fill_input(Team& team, const Place& place, int first_set, int end_set) {
    const Pattern& values = pattern(team, place);
    const std::int64_t bytes = place.tensor.span_bytes();
    const std::int64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
    for_each_task(team, pieces * (end_set - first_set), [&](std::int64_t task) {
        const int set = first_set + static_cast<int>(task / pieces);
        std::int64_t at = task % pieces * piece_bytes;
        const std::int64_t end = std::min(bytes, at + piece_bytes);
        const auto tensor_key = static_cast<std::uint64_t>(place.tensor.role) << 56;
        const auto piece_key = (static_cast<std::uint64_t>(set) << 32) + static_cast<std::uint64_t>(task % pieces);
        const auto lines = static_cast<std::uint64_t>(values.size() / cache_line_bytes);
        std::int64_t from = static_cast<std::int64_t>(mixed(mixed(seed_) ^ tensor_key ^ piece_key) % lines) * cache_line_bytes;
        while (at < end) {
            const std::int64_t count = std::min(end - at, values.size() - from);
            const std::int64_t whole = count / cache_line_bytes * cache_line_bytes;
            memory_->passes.copy_stream(location(place, set) + at, values.data() + from, whole);
            std::memcpy(location(place, set) + at + whole, values.data() + from + whole, static_cast<std::size_t>(count - whole));
            at += count;
            from = 0;
        }
        memory_->passes.fence();
    });
}

void CpuBuffers::fill(Team& team) {
    for (const Place& place : places_) {
        if (place.tensor.shared()) {
            fill_normal(location(place, 0), place.tensor.dtype, 0, place.tensor.cols, 1.0F - static_cast<float>(problem_.operation.offset),
                        0.1F, seed_);
        } else if (is_input(place.tensor)) {
            fill_input(team, place, 0, sets_);
        }
    }
}

void CpuBuffers::touch_outputs(Team& team) const {
    // Everything that is not an input of a tensor.
    const std::int64_t pages = (set_bytes_ + page - 1) / page;
    constexpr std::int64_t pages_a_task = 512;
    const std::int64_t tasks = (pages + pages_a_task - 1) / pages_a_task;
    std::int64_t filled = 0;
    for (const Place& place : places_) {
        if (is_input(place.tensor) && !place.tensor.shared()) {
            filled = std::max(filled, place.offset + place.tensor.span_bytes());
        }
    }
    for_each_task(team, tasks * sets_, [&](std::int64_t task) {
        std::byte* set = block_.data() + shared_bytes_ + task / tasks * set_bytes_;
        const std::int64_t first = std::max(task % tasks * pages_a_task, rounded_up(filled, page) / page);
        for (std::int64_t i = first; i < std::min(pages, (task % tasks + 1) * pages_a_task); ++i) {
            set[i * page] = std::byte{0};
        }
    });
}

}  // namespace normtune::cpu
