#include "devices/gpu/gpu_timer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include <fmt/format.h>

namespace normtune::gpu {

namespace {

// A sample is long enough that its two events and the graph's start (about 2 µs together) weigh under 0.5%.
constexpr double sample_us = 400;
// A queue that is blocked by the gate must take the whole sample: the driver holds about 1,000 launches.
constexpr int most_launches = 256;
// So many times the L2's bytes between two uses of a set make it cold.
constexpr std::int64_t cold_over_cache = 4;
// Read ahead of a sample, over the L2's, where launches of its own come in between; where none do.
constexpr double cleared_over_cache = 1.25;
constexpr double evicted_over_cache = 2;
// Of launches ahead of a sample, over the L2's.
constexpr double lead_in_over_cache = 1.5;
// Clocks that were read so lately are those before the next batch, too: a driver takes some 20 µs to tell them.
constexpr double clocks_hold_s = 0.005;
// Less is one step of a clock, which it takes now and then under any load.
constexpr double clock_step = 0.01;
// A launch that is not back by then, each of so many times, waits for the gate.
constexpr std::chrono::milliseconds launch_patience{100};
constexpr int late_launches = 3;
// Of one value in CUDA and in HIP.
constexpr unsigned host_memory_mapped = 2;  // CU_MEMHOSTALLOC_DEVICEMAP, hipHostMallocMapped

/// Does the driver make graphs of streams?
bool captures(const Driver& driver, Stream stream) {
    OwnedGraph graph(driver);
    return driver.stream_begin_capture(stream, capture_relaxed) == success && driver.stream_end_capture(stream, graph.make()) == success;
}

bool moved(const std::optional<double>& before, const std::optional<double>& after) {
    return before && after && std::abs(*after - *before) > clock_step * std::max(*before, *after);
}

}  // namespace

std::optional<Window> Rotation::lead_in() const {
    if (size_.sets == 1 || size_.set_bytes * windows_->least_between() < cold_over_cache * size_.cache_bytes) {
        return std::nullopt;
    }
    const auto sets =
        static_cast<int>(std::ceil(lead_in_over_cache * static_cast<double>(size_.cache_bytes) / static_cast<double>(size_.set_bytes)));
    const int launches = std::min(sets, size_.sets - 1);
    return Window{size_.sets - launches, launches};
}

void Rotation::enqueue(const Window& window, Stream stream) const {
    for (int i = 0; i < window.launches; ++i) {
        enqueue_((window.first + i) % size_.sets, stream);
    }
}

GraphExec Rotation::graph(const Window& window, Stream stream) {
    if (const auto found = graphs_.find(window.first); found != graphs_.end()) {
        return found->second.get();
    }
    const auto made = [&](Result result, const char* doing) { check(driver_, result, DeviceFault::launch_failed, doing); };
    const auto around_capture = [&](const Window* of) {
        if (around_capture_) {
            around_capture_(of);
        }
    };
    around_capture(&window);
    made(driver_.stream_begin_capture(stream, capture_relaxed), "starting a graph");
    OwnedGraph graph(driver_);
    try {
        enqueue(window, stream);
    } catch (...) {
        driver_.stream_end_capture(stream, graph.make());
        around_capture(nullptr);
        throw;
    }
    around_capture(nullptr);
    made(driver_.stream_end_capture(stream, graph.make()), "ending a graph");
    OwnedGraphExec exec(driver_);
    made(driver_.graph_instantiate(exec.make(), graph.get(), 0), "making a graph executable");
    if (driver_.graph_upload != nullptr) {
        made(driver_.graph_upload(exec.get(), stream), "uploading a graph");  // or its first launch does, in a sample
    }
    return graphs_.emplace(window.first, std::move(exec)).first->second.get();
}

GpuTimer::GpuTimer(const Driver& driver, Stream stream, bool has_wait_value, GateKernel gate_kernel, std::function<void()> settle,
                   bool clears, std::function<ClockState()> clocks)
    : driver_(driver),
      stream_(stream),
      has_graphs_(captures(driver, stream)),
      gate_kernel_(std::move(gate_kernel)),
      settle_(std::move(settle)),
      clears_(clears),
      clocks_(std::move(clocks)),
      start_(driver),
      end_(driver),
      gate_(driver) {
    check(driver_, driver_.event_create(start_.make(), 0), DeviceFault::launch_failed, "making an event");
    check(driver_, driver_.event_create(end_.make(), 0), DeviceFault::launch_failed, "making an event");
    check(driver_, driver_.memory_host_alloc(gate_.make(), sizeof(std::uint32_t), host_memory_mapped), DeviceFault::out_of_memory,
          "making the gate");
    check(driver_, driver_.memory_host_get_device_pointer(&gate_on_device_, gate_.get(), 0), DeviceFault::launch_failed, "making the gate");
    open_gate();
    // Some take only memory of a special kind for it: asked once, with a wait that is over at once.
    waits_for_value_ = has_wait_value && driver_.stream_wait_value32(stream_, gate_on_device_, ticket_) == success;
    gate_kernel_(gate_on_device_, ticket_);  // open: loaded before a launch of it is timed
    check(driver_, driver_.stream_synchronize(stream_), DeviceFault::launch_failed, "trying the gate");
    int late = 0;
    while (late < late_launches && launch_is_late()) {
        ++late;
    }
    is_gated_ = late < late_launches;
}

bool GpuTimer::launch_is_late() {
    std::mutex mutex;
    std::condition_variable told;
    bool is_back = false;
    bool was_late = false;
    const std::uint32_t ticket = ticket_ + 1;
    {
        const std::jthread opener([&] {
            std::unique_lock lock(mutex);
            was_late = !told.wait_for(lock, launch_patience, [&] { return is_back; });
            set_gate(ticket);
        });
        close_gate();
        gate_kernel_(gate_on_device_, ticket);
        {
            const std::lock_guard lock(mutex);
            is_back = true;
        }
        told.notify_one();
    }
    check(driver_, driver_.stream_synchronize(stream_), DeviceFault::launch_failed, "trying the gate");
    return was_late;
}

void GpuTimer::close_gate() {
    if (!is_gated_) {
        return;
    }
    ++ticket_;
    if (waits_for_value_) {
        check(driver_, driver_.stream_wait_value32(stream_, gate_on_device_, ticket_), DeviceFault::launch_failed, "closing the gate");
    } else {
        gate_kernel_(gate_on_device_, ticket_);
    }
}

void GpuTimer::open_gate() {
    set_gate(ticket_);
}

void GpuTimer::set_gate(std::uint32_t ticket) {
    std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(gate_.get())).store(ticket, std::memory_order_seq_cst);
}

double GpuTimer::timed_us(const std::function<void()>& queue_work, const std::function<void()>& queue_before) {
    close_gate();
    try {
        if (queue_before) {
            queue_before();
        }
        if (settle_) {
            settle_();
        }
        check(driver_, driver_.event_record(start_.get(), stream_), DeviceFault::launch_failed, "recording an event");
        queue_work();
        check(driver_, driver_.event_record(end_.get(), stream_), DeviceFault::launch_failed, "recording an event");
    } catch (...) {
        open_gate();  // or the stream would wait for ever
        throw;
    }
    open_gate();
    check(driver_, driver_.event_synchronize(end_.get()), DeviceFault::launch_failed, "running the kernel");
    float ms = 0;
    check(driver_, driver_.event_elapsed_ms(&ms, start_.get(), end_.get()), DeviceFault::launch_failed, "reading the events");
    return static_cast<double>(ms) * 1e3;
}

void GpuTimer::calibrate(Rotation& rotation) {
    double least_us = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
        least_us = std::min(least_us, timed_us([&] { rotation.enqueue_(i % rotation.size_.sets, stream_); }, nullptr));
    }
    rotation.windows_.emplace(rotation.size_.sets, launches_per_sample(sample_us, rotation.size_.expected_us, least_us, most_launches));
}

void GpuTimer::queue(Rotation& rotation, const Window& window) {
    if (has_graphs_) {
        check(driver_, driver_.graph_launch(rotation.graph(window, stream_), stream_), DeviceFault::launch_failed, "launching a graph");
    } else {
        rotation.enqueue(window, stream_);
    }
}

/// A cold one begins with an L2 that holds nothing of the sets, or what launches of its own have left there.
double GpuTimer::one_sample_us(Rotation& rotation, const Evict& evict) {
    const Window window = (*rotation.windows_)[rotation.samples_++];
    const bool is_cold = rotation.size_.cache_bytes > 0;
    const std::optional<Window> lead_in = is_cold ? rotation.lead_in() : std::nullopt;
    if (has_graphs_) {  // made before the gate is closed
        rotation.graph(window, stream_);
        if (lead_in) {
            rotation.graph(*lead_in, stream_);
        }
    }
    const double us = timed_us([&] { queue(rotation, window); },
                               [&] {
                                   if (lead_in) {
                                       evict(stream_, cleared_over_cache);
                                       queue(rotation, *lead_in);
                                   } else if (is_cold) {
                                       evict(stream_, evicted_over_cache);
                                   }
                               });
    return us / window.launches;
}

double GpuTimer::glance_us(const Enqueue& enqueue, const RotationSize& size, const Evict& evict) {
    constexpr double glance_us = 60;
    constexpr double most_glanced = 24;
    const auto launches = static_cast<int>(std::clamp(std::ceil(glance_us / size.expected_us), 1.0, most_glanced));
    const bool stays_cold = size.set_bytes * size.sets >= cold_over_cache * size.cache_bytes;
    const double us = timed_us(
        [&] {
            for (int i = 0; i < launches; ++i) {
                enqueue(static_cast<int>(glanced_++ % size.sets), stream_);
            }
        },
        stays_cold ? nullptr : std::function<void()>([&] { evict(stream_, evicted_over_cache); }));
    return us / launches;
}

ClockState GpuTimer::clocks_before() const {
    return clocks_hold_ && !past(clocks_hold_) ? last_clocks_ : clocks_();
}

void GpuTimer::prepare(Rotation& rotation, const Evict& evict) {
    if (!rotation.windows_) {
        calibrate(rotation);
        one_sample_us(rotation, evict);  // a first graph's launch is slower than all others
    }
}

double GpuTimer::quick_sample_us(Rotation& rotation, const Evict& evict) {
    prepare(rotation, evict);
    return one_sample_us(rotation, evict);
}

SampleBatch GpuTimer::sample(Rotation& rotation, const SampleRequest& request, const Evict& evict) {
    prepare(rotation, evict);
    const ClockState before = clocks_before();
    SampleBatch batch;
    batch.timer = fmt::format("{}{}{}{}", clears_ && rotation.size_.cache_bytes > 0 ? "cleared_" : "", settle_ ? "settled_" : "",
                              has_graphs_ ? "graph" : "events", is_gated_ ? "" : "/ungated");
    batch.launches_per_sample = rotation.windows_->most_launches();
    double spent = 0;
    while (static_cast<int>(batch.us.size()) < request.samples &&
           (batch.us.empty() || request.time_cap_us <= 0 || spent < request.time_cap_us)) {
        batch.us.push_back(one_sample_us(rotation, evict));
        spent += batch.us.back() * batch.launches_per_sample;
    }
    batch.rotation_bytes = rotation.size_.set_bytes * rotation.windows_->touched(rotation.samples_);
    last_clocks_ = clocks_();
    clocks_hold_ = deadline_in(clocks_hold_s);
    batch.clock_mhz = last_clocks_.mhz;
    batch.memory_clock_mhz = last_clocks_.memory_mhz;
    batch.clock_before_mhz = before.mhz;
    batch.memory_clock_before_mhz = before.memory_mhz;
    batch.clocks_moved = moved(before.mhz, last_clocks_.mhz) || moved(before.memory_mhz, last_clocks_.memory_mhz);
    batch.throttle_reasons = last_clocks_.throttle_reasons;
    return batch;
}

}  // namespace normtune::gpu
