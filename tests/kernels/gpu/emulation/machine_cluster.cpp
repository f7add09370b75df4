// Programs of a cluster: their barrier, and what they send to each other's shared memory.
#include <cstring>

#include <fmt/format.h>

#include "kernels/gpu/emulation/machine.h"

namespace normtune::emulation {

void Machine::cluster_arrive(Site site) {
    Cluster& cluster = *current_->program->cluster;
    if (current_->arrived) {
        fail(fmt::format("comes to the cluster's barrier of {} again without having waited", text(site)));
    }
    current_->site = site;
    current_->arrived = true;
    ++progress_;
    if (++cluster.arrived == request_.threads * request_.cluster) {
        cluster.arrived = 0;
        ++cluster.barriers;
        for (Thread* thread : cluster.waiting) {
            thread->waits_at = nullptr;
            ready_.push_back(thread);
        }
        cluster.waiting.clear();
    }
}

void Machine::cluster_wait(Site site) {
    Cluster& cluster = *current_->program->cluster;
    if (!current_->arrived) {
        fail(fmt::format("waits at the cluster's barrier of {} without having come to it", text(site)));
    }
    current_->site = site;
    if (current_->cluster_barriers == cluster.barriers) {
        cluster.waiting.push_back(current_);
        current_->waits_at = "cluster's barrier";
        current_->fibre.switch_to(scheduler_);
    }
    current_->arrived = false;
    ++current_->cluster_barriers;
}

void Machine::share_barriers() {
    Program& program = *current_->program;
    for (auto& [offset, barrier] : program.bulk_barriers) {
        if (barrier.begun.thread == current_->number && !current_->arrived) {
            barrier.shared_before = current_->cluster_barriers;
        }
    }
}

void Machine::send(float* to, void* barrier, int rank, float value) {
    const Program& own = *current_->program;
    if (rank < 0 || rank >= request_.cluster) {
        fail(fmt::format("sends to program {} of a cluster of {}", rank, request_.cluster));
    }
    Program& other = *own.cluster->programs[static_cast<std::size_t>(rank)];
    const std::size_t offset = offset_in_shared(to, sizeof value);
    const auto known = other.bulk_barriers.find(offset_in_shared(barrier, sizeof(std::uint64_t)));
    if (current_->cluster_barriers == 0 || known == other.bulk_barriers.end()) {
        fail(fmt::format("sends to program {}, which may not have begun", other.index));
    }
    BulkBarrier& counts = known->second;
    if (!counts.is_shared_with(*current_)) {
        fail(fmt::format("sends to program {}, whose barrier was not shared", other.index));
    }
    const std::string memory = fmt::format("shared memory of program {}", other.index);
    access_shared(*other.shadow, offset, sizeof value, AccessKind::async_write, memory.c_str());
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    counts.copies.push_back({offset, {bytes, bytes + sizeof value}});
    counts.copied += sizeof value;
    order_.send(current_->number, counts.number);
    try_to_end_phase(counts);
}

}  // namespace normtune::emulation
