// Which device works on which problem of a sweep. Problems of one shape stay together, so that times which are added
// or set side by side (forward and backward, two castings) are of one device.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace normtune {

/// Problems of one shape, by their place in the sweep and in the order in which they run.
struct WorkGroup {
    std::vector<std::size_t> problems;
    double weight = 0;                  // estimated_work
    std::optional<std::size_t> device;  // that has begun it; none: any
};

/// Each device has a queue of its own; one whose queue is empty steals from the fullest what nobody has begun.
/// Thread-safe.
class WorkQueue {
public:
    /// Deals the groups out: heaviest first, each to the device that has least. One device keeps their order.
    WorkQueue(std::size_t devices, std::vector<WorkGroup> groups);

    /// The device's next group, or a stolen one; what it took before is finished with that. Waits while other devices
    /// are at work, as one that fails gives its groups back. None: nothing is left.
    std::optional<WorkGroup> take(std::size_t index);
    /// All groups of the device's own queue as one, or else a stolen one.
    std::optional<WorkGroup> take_all(std::size_t index);
    /// The problem that the device would begin next if nobody stole it.
    std::optional<std::size_t> peek(std::size_t index) const;
    /// The device is lost: `rest` of what it took and its queue go to the others. False: there are none.
    bool lose(std::size_t index, WorkGroup rest);
    /// Nobody is given anything any more.
    void stop();

private:
    struct Device {
        std::deque<WorkGroup> queue;
        bool busy = false;
        bool lost = false;
        double weight() const;
        bool can_be_stolen_from() const { return !queue.empty() && !queue.back().device; }
    };
    bool has_work_for(const Device& device) const;
    bool wait_for_work(Device& device, std::unique_lock<std::mutex>& lock);
    std::optional<WorkGroup> steal();
    std::optional<WorkGroup> take(std::size_t index, std::size_t most);  // groups of its own queue
    void deal(WorkGroup group);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Device> devices_;
    bool stopped_ = false;
};

}  // namespace normtune
