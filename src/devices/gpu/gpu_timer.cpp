#include "devices/gpu/gpu_timer.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "measure/statistics.h"

namespace normtune::gpu {

namespace {

// A sample is long enough that its two events and the graph's start (about 2 µs together) weigh under 0.5%.
constexpr double sample_us = 400;
// A queue that is blocked by the gate must take the whole sample: the driver holds about 1,000 launches.
constexpr int most_launches = 256;
// Of one value in CUDA and in HIP.
constexpr unsigned host_memory_mapped = 2;  // CU_MEMHOSTALLOC_DEVICEMAP, hipHostMallocMapped
constexpr int capture_relaxed = 2;          // CU_STREAM_CAPTURE_MODE_RELAXED, hipStreamCaptureModeRelaxed

/// Does the driver make graphs of streams?
bool captures(const Driver& driver, Stream stream) {
    Graph graph = nullptr;
    return driver.stream_begin_capture(stream, capture_relaxed) == success && driver.stream_end_capture(stream, &graph) == success &&
           driver.graph_destroy(graph) == success;
}

}  // namespace

Rotation::Rotation(const Driver& driver, Enqueue enqueue, int sets, std::int64_t set_bytes, std::int64_t cache_bytes)
    : driver_(driver), enqueue_(std::move(enqueue)), sets_(sets), set_bytes_(set_bytes), cache_bytes_(cache_bytes) {}

Rotation::~Rotation() {
    for (const auto& [start, graph] : graphs_) {
        driver_.graph_exec_destroy(graph);
    }
}

void Rotation::enqueue_turn(int start, Stream stream) const {
    for (int i = 0; i < launches_; ++i) {
        enqueue_((start + i) % turning_sets_, stream);
    }
}

GraphExec Rotation::graph(int start, Stream stream) {
    const auto found = graphs_.find(start);
    if (found != graphs_.end()) {
        return found->second;
    }
    check(driver_, driver_.stream_begin_capture(stream, capture_relaxed), DeviceFault::launch_failed, "starting a graph");
    Graph graph = nullptr;
    try {
        enqueue_turn(start, stream);
    } catch (...) {
        driver_.stream_end_capture(stream, &graph);
        throw;
    }
    check(driver_, driver_.stream_end_capture(stream, &graph), DeviceFault::launch_failed, "ending a graph");
    GraphExec exec = nullptr;
    const Result result = driver_.graph_instantiate(&exec, graph, 0);
    driver_.graph_destroy(graph);
    check(driver_, result, DeviceFault::launch_failed, "making a graph executable");
    graphs_.emplace(start, exec);
    return exec;
}

GpuTimer::GpuTimer(const Driver& driver, Stream stream, bool has_wait_value, GateKernel gate_kernel, std::function<ClockState()> clocks)
    : driver_(driver),
      stream_(stream),
      has_graphs_(captures(driver, stream)),
      gate_kernel_(std::move(gate_kernel)),
      clocks_(std::move(clocks)) {
    check(driver_, driver_.event_create(&start_, 0), DeviceFault::launch_failed, "making an event");
    check(driver_, driver_.event_create(&end_, 0), DeviceFault::launch_failed, "making an event");
    void* memory = nullptr;
    check(driver_, driver_.memory_host_alloc(&memory, sizeof(std::uint32_t), host_memory_mapped), DeviceFault::out_of_memory,
          "making the gate");
    check(driver_, driver_.memory_host_get_device_pointer(&gate_on_device_, memory, 0), DeviceFault::launch_failed, "making the gate");
    gate_ = static_cast<std::uint32_t*>(memory);
    *gate_ = ticket_;
    // Some take only memory of a special kind for it: asked once, with a wait that is over at once.
    waits_for_value_ = has_wait_value && driver_.stream_wait_value32(stream_, gate_on_device_, ticket_) == success;
}

GpuTimer::~GpuTimer() {
    driver_.event_destroy(start_);
    driver_.event_destroy(end_);
    driver_.memory_free_host(gate_);
}

void GpuTimer::close_gate() {
    ++ticket_;
    if (waits_for_value_) {
        check(driver_, driver_.stream_wait_value32(stream_, gate_on_device_, ticket_), DeviceFault::launch_failed, "closing the gate");
    } else {
        gate_kernel_(gate_on_device_, ticket_);
    }
}

void GpuTimer::open_gate() {
    std::atomic_ref<std::uint32_t>(*gate_).store(ticket_, std::memory_order_seq_cst);
}

double GpuTimer::timed_us(const std::function<void()>& queue_work, const std::function<void()>& queue_before) {
    close_gate();
    try {
        if (queue_before) {
            queue_before();
        }
        check(driver_, driver_.event_record(start_, stream_), DeviceFault::launch_failed, "recording an event");
        queue_work();
        check(driver_, driver_.event_record(end_, stream_), DeviceFault::launch_failed, "recording an event");
    } catch (...) {
        open_gate();  // or the stream would wait for ever
        throw;
    }
    open_gate();
    check(driver_, driver_.event_synchronize(end_), DeviceFault::launch_failed, "running the kernel");
    float ms = 0;
    check(driver_, driver_.event_elapsed_ms(&ms, start_, end_), DeviceFault::launch_failed, "reading the events");
    return static_cast<double>(ms) * 1e3;
}

void GpuTimer::calibrate(Rotation& rotation, bool cold) {
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) {
        const int set = cold ? i % rotation.sets_ : 0;
        times.push_back(timed_us([&] { rotation.enqueue_(set, stream_); }, nullptr));
    }
    rotation.launch_us_ = std::max(0.5, *std::min_element(times.begin(), times.end()));
    rotation.turning_sets_ = cold ? rotation.sets_ : 1;
    const int sets = rotation.turning_sets_;
    int launches = std::clamp(static_cast<int>(std::ceil(sample_us / rotation.launch_us_)), 1, most_launches);
    if (launches > sets) {
        launches = (launches + sets - 1) / sets * sets;  // whole turns: a sample never begins on the set that ended the last
    }
    rotation.launches_ = launches;
}

SampleBatch GpuTimer::sample(Rotation& rotation, const SampleRequest& request, const std::function<void(Stream)>& evict) {
    const bool fresh = rotation.launches_ == 0;
    if (fresh) {
        calibrate(rotation, request.cold);
    }
    SampleBatch batch;
    batch.timer = has_graphs_ ? "graph" : "events";
    batch.launches_per_sample = rotation.launches_;
    const std::int64_t rotation_bytes = rotation.set_bytes_ * rotation.sets_;
    const bool must_evict = request.cold && rotation_bytes < 4 * rotation.cache_bytes_;
    const auto one_sample = [&] {
        const int start = rotation.next_start_;
        const GraphExec graph = has_graphs_ ? rotation.graph(start, stream_) : nullptr;
        const std::function<void()> before = must_evict ? std::function<void()>([&] { evict(stream_); }) : nullptr;
        const double us = timed_us(
            [&] {
                if (graph == nullptr) {
                    rotation.enqueue_turn(start, stream_);
                    return;
                }
                check(driver_, driver_.graph_launch(graph, stream_), DeviceFault::launch_failed, "launching a graph");
            },
            before);
        // The next sample goes on where this one ended, in windows of whole graphs, so that few graphs are made.
        const int next = start + rotation.launches_;
        rotation.next_start_ = next + rotation.launches_ <= rotation.turning_sets_ ? next : 0;
        return us / rotation.launches_;
    };
    if (fresh) {
        one_sample();  // the first launch of a graph uploads it
    }
    double spent = 0;
    while (static_cast<int>(batch.us.size()) < request.samples &&
           (batch.us.empty() || request.time_cap_us <= 0 || spent < request.time_cap_us)) {
        batch.us.push_back(one_sample());
        spent += batch.us.back() * rotation.launches_;
    }
    const ClockState clocks = clocks_();
    batch.clock_mhz = clocks.mhz;
    batch.throttle_reasons = clocks.throttle_reasons;
    return batch;
}

}  // namespace normtune::gpu
