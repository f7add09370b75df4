#include "run/work_queue.h"

#include <algorithm>
#include <limits>

namespace normtune {

double WorkQueue::Device::weight() const {
    double sum = 0;
    for (const WorkGroup& group : queue) {
        sum += group.weight;
    }
    return sum;
}

WorkQueue::WorkQueue(std::size_t devices, std::vector<WorkGroup> groups) : devices_(devices) {
    if (devices > 1) {
        // Begun ones first: they say where they go.
        std::stable_sort(groups.begin(), groups.end(), [](const WorkGroup& a, const WorkGroup& b) {
            return a.device.has_value() != b.device.has_value() ? a.device.has_value() : a.weight > b.weight;
        });
    }
    for (WorkGroup& group : groups) {
        deal(std::move(group));
    }
}

void WorkQueue::deal(WorkGroup group) {
    if (group.device && !devices_[*group.device].lost) {
        devices_[*group.device].queue.push_back(std::move(group));
        return;
    }
    Device* least = nullptr;
    for (Device& device : devices_) {
        if (!device.lost && (least == nullptr || device.weight() < least->weight())) {
            least = &device;
        }
    }
    least->queue.push_back(std::move(group));
}

// Of the fullest queue the last group: the lightest, and the furthest from what its owner is compiling ahead for.
std::optional<WorkGroup> WorkQueue::steal() {
    Device* fullest = nullptr;
    for (Device& device : devices_) {
        if (device.can_be_stolen_from() && (fullest == nullptr || device.weight() > fullest->weight())) {
            fullest = &device;
        }
    }
    if (fullest == nullptr) {
        return std::nullopt;
    }
    WorkGroup group = std::move(fullest->queue.back());
    fullest->queue.pop_back();
    return group;
}

bool WorkQueue::has_work_for(const Device& device) const {
    return !device.queue.empty() || std::any_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.can_be_stolen_from(); });
}

bool WorkQueue::wait_for_work(Device& device, std::unique_lock<std::mutex>& lock) {
    device.busy = false;
    changed_.notify_all();
    changed_.wait(lock, [&] {
        return stopped_ || has_work_for(device) ||
               std::none_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.busy || (!d.lost && !d.queue.empty()); });
    });
    device.busy = !stopped_ && has_work_for(device);
    return device.busy;
}

std::optional<WorkGroup> WorkQueue::take(std::size_t index, std::size_t most) {
    std::unique_lock lock(mutex_);
    Device& device = devices_[index];
    if (!wait_for_work(device, lock)) {
        return std::nullopt;
    }
    if (device.queue.empty()) {
        return steal();
    }
    WorkGroup taken;
    for (; most > 0 && !device.queue.empty(); --most) {
        const WorkGroup& group = device.queue.front();
        taken.problems.insert(taken.problems.end(), group.problems.begin(), group.problems.end());
        taken.weight += group.weight;
        device.queue.pop_front();
    }
    return taken;
}

std::optional<WorkGroup> WorkQueue::take(std::size_t index) {
    return take(index, 1);
}

std::optional<WorkGroup> WorkQueue::take_all(std::size_t index) {
    return take(index, std::numeric_limits<std::size_t>::max());
}

std::optional<std::size_t> WorkQueue::peek(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    const std::deque<WorkGroup>& queue = devices_[index].queue;
    return queue.empty() ? std::nullopt : std::optional(queue.front().problems.front());
}

bool WorkQueue::lose(std::size_t index, WorkGroup rest) {
    const std::lock_guard lock(mutex_);
    Device& device = devices_[index];
    device.lost = true;
    device.busy = false;
    const bool others = std::any_of(devices_.begin(), devices_.end(), [](const Device& d) { return !d.lost; });
    if (others) {
        std::deque<WorkGroup> groups = std::move(device.queue);
        device.queue.clear();
        if (!rest.problems.empty()) {
            groups.push_front(std::move(rest));
        }
        for (WorkGroup& group : groups) {
            group.device.reset();
            deal(std::move(group));
        }
    }
    changed_.notify_all();
    return others;
}

void WorkQueue::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

}  // namespace normtune
