// Device time of launches: graphs of launches that rotate over buffer sets, between events, queued behind a gate.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "devices/device.h"
#include "devices/gpu/clocks.h"
#include "devices/gpu/driver.h"

namespace normtune::gpu {

/// Queues one launch (all kernels of the op) on buffer set `set`.
using Enqueue = std::function<void(int set, Stream stream)>;

/// Graphs of one kernel over one rotation: made at the first sample, kept for all further rounds.
class Rotation {
public:
    /// `set_bytes` inputs and outputs of a set together; `cache_bytes` the L2.
    Rotation(const Driver& driver, Enqueue enqueue, int sets, std::int64_t set_bytes, std::int64_t cache_bytes);
    ~Rotation();
    Rotation(const Rotation&) = delete;
    Rotation& operator=(const Rotation&) = delete;

private:
    friend class GpuTimer;
    GraphExec graph(int start, Stream stream);
    void enqueue_turn(int start, Stream stream) const;

    const Driver& driver_;
    Enqueue enqueue_;
    int sets_;
    int turning_sets_ = 1;  // all of them cold, set 0 alone hot
    std::int64_t set_bytes_;
    std::int64_t cache_bytes_;
    int launches_ = 0;  // a graph; 0: not calibrated
    double launch_us_ = 0;
    int next_start_ = 0;
    std::map<int, GraphExec> graphs_;  // by their first set
};

class GpuTimer {
public:
    /// Queues a kernel that ends once `flag` holds `ticket`: the gate where a stream cannot wait for a value itself.
    using GateKernel = std::function<void(DevicePointer flag, std::uint32_t ticket)>;
    GpuTimer(const Driver& driver, Stream stream, bool has_wait_value, GateKernel gate_kernel, std::function<ClockState()> clocks);
    ~GpuTimer();
    GpuTimer(const GpuTimer&) = delete;
    GpuTimer& operator=(const GpuTimer&) = delete;

    /// `evict` queues a read of more than the L2 (no writes): run before a sample whose sets could still lie in the L2.
    /// Throws DeviceError: launch_failed.
    SampleBatch sample(Rotation& rotation, const SampleRequest& request, const std::function<void(Stream)>& evict);

private:
    double timed_us(const std::function<void()>& queue_work, const std::function<void()>& queue_before);
    void calibrate(Rotation& rotation, bool cold);
    void close_gate();
    void open_gate();

    const Driver& driver_;
    Stream stream_;
    bool waits_for_value_;
    bool has_graphs_;
    GateKernel gate_kernel_;
    std::function<ClockState()> clocks_;
    Event start_ = nullptr;
    Event end_ = nullptr;
    std::uint32_t* gate_ = nullptr;  // host memory that the stream waits on
    DevicePointer gate_on_device_ = 0;
    std::uint32_t ticket_ = 0;
};

}  // namespace normtune::gpu
