// Device time of launches: graphs of launches that rotate over buffer sets, between events, queued behind a gate.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "devices/device.h"
#include "devices/gpu/owned.h"
#include "measure/rotation.h"
#include "support/deadline.h"

namespace normtune::gpu {

/// Queues one launch (all kernels of the op) on buffer set `set`.
using Enqueue = std::function<void(int set, Stream stream)>;

struct RotationSize {
    int sets = 1;                  // hot: one
    std::int64_t set_bytes = 0;    // inputs and outputs of a set together
    std::int64_t cache_bytes = 0;  // of the L2; hot: 0
    double expected_us = 1;        // of a launch, by the problem and the device alone
    friend bool operator==(const RotationSize&, const RotationSize&) = default;
};

/// Queues what leaves nothing in the L2 but clean lines of a region of its own: a read of `over_cache` times as many bytes as it has, two
/// at the most. Lines that a kernel has left to be evicted last, which no plain read displaces, are gone, too, and none are left so.
using Evict = std::function<void(Stream stream, double over_cache)>;

/// Graphs of one kernel over one rotation: made at the first sample, kept for all further rounds.
class Rotation {
public:
    /// `around_capture`, where given, is called before a window's launches are captured, and after them with null.
    Rotation(const Driver& driver, Enqueue enqueue, const RotationSize& size, std::function<void(const Window*)> around_capture = {})
        : driver_(driver), enqueue_(std::move(enqueue)), size_(size), around_capture_(std::move(around_capture)) {}

    /// Sets of the next sample; before the first one, the set that it begins with.
    Window next_window() const { return windows_ ? (*windows_)[samples_] : Window{}; }

private:
    friend class GpuTimer;
    GraphExec graph(const Window& window, Stream stream);
    void enqueue(const Window& window, Stream stream) const;
    /// The sets ahead of the first one, as many as fill the L2; none where so few lie between two uses of one that the L2 may still have
    /// it.
    std::optional<Window> lead_in() const;

    const Driver& driver_;
    Enqueue enqueue_;
    RotationSize size_;
    std::function<void(const Window*)> around_capture_;
    std::optional<Windows> windows_;  // once it is known how many launches make a sample
    std::int64_t samples_ = 0;
    std::map<int, OwnedGraphExec> graphs_;  // by their first set
};

class GpuTimer {
public:
    /// Queues a kernel that ends once `flag` holds `ticket`: the gate where a stream cannot wait for a value itself.
    using GateKernel = std::function<void(DevicePointer flag, std::uint32_t ticket)>;
    /// `settle`, where given, queues kernels behind the gate and ahead of the start event, after which a launch takes the same whatever
    /// the process has launched before (docs/cuda.md). `clears`: what is given as `evict` displaces lines that are to be evicted last.
    GpuTimer(const Driver& driver, Stream stream, bool has_wait_value, GateKernel gate_kernel, std::function<void()> settle, bool clears,
             std::function<ClockState()> clocks);

    /// Cold: with nothing in the L2 but what launches of its own over sets ahead, or none, have left there.
    /// Throws DeviceError: launch_failed.
    SampleBatch sample(Rotation& rotation, const SampleRequest& request, const Evict& evict);
    /// One sample alone, and the clocks are not read, which takes longer: for choosing among copies.
    double quick_sample_us(Rotation& rotation, const Evict& evict);
    /// A launch's time by a short look without a graph, which is made in less time than a sample: for choosing among copies.
    double glance_us(const Enqueue& enqueue, const RotationSize& size, const Evict& evict);

private:
    double timed_us(const std::function<void()>& queue_work, const std::function<void()>& queue_before);
    void queue(Rotation& rotation, const Window& window);
    double one_sample_us(Rotation& rotation, const Evict& evict);
    void calibrate(Rotation& rotation);
    void prepare(Rotation& rotation, const Evict& evict);
    /// Whether a launch comes back only when the gate opens: with CUDA_LAUNCH_BLOCKING, or under a tool that runs one launch at a time.
    /// Such a process is timed without a gate, and `timer` says so.
    bool launch_is_late();
    void close_gate();
    void open_gate();
    void set_gate(std::uint32_t ticket);
    ClockState clocks_before() const;

    const Driver& driver_;
    Stream stream_;
    bool waits_for_value_;
    bool is_gated_ = true;
    bool has_graphs_;
    GateKernel gate_kernel_;
    std::function<void()> settle_;
    bool clears_ = false;
    std::function<ClockState()> clocks_;
    OwnedEvent start_;
    OwnedEvent end_;
    OwnedHostMemory gate_;  // a 32-bit word that the stream waits on
    DevicePointer gate_on_device_ = 0;
    std::uint32_t ticket_ = 0;
    std::int64_t glanced_ = 0;  // launches
    ClockState last_clocks_;    // after the latest batch
    std::optional<Deadline> clocks_hold_;
};

}  // namespace normtune::gpu
