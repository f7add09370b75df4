// Programs of a cluster: their barrier, and their writes to each other's shared memory.
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
    order_.arrive_in_cluster(current_->number);
    ++progress_;
    if (++cluster.arrived == request_.threads * request_.cluster) {
        cluster.arrived = 0;
        ++cluster.barriers;
        order_.pass_cluster_barrier(cluster.programs.front()->index);
        for (Program* program : cluster.programs) {
            program->written_by = nullptr;
        }
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
    order_.wait_in_cluster(current_->number);
}

void Machine::write_remote(float* to, int rank, float value) {
    const Program& own = *current_->program;
    if (rank < 0 || rank >= request_.cluster) {
        fail(fmt::format("writes to program {} of a cluster of {}", rank, request_.cluster));
    }
    Program& other = *own.cluster->programs[static_cast<std::size_t>(rank)];
    if (current_->cluster_barriers == 0) {
        fail(fmt::format("writes to the shared memory of program {}, which may not have begun", other.index));
    }
    if (current_->arrived) {
        fail(fmt::format("writes to the shared memory of program {} before it waits at the cluster's barrier", other.index));
    }
    const std::size_t offset = offset_in_shared(to, sizeof value);
    access_shared(*other.shadow, offset, sizeof value, AccessKind::write, fmt::format("shared memory of program {}", other.index).c_str());
    std::memcpy(other.shared + offset, &value, sizeof value);
    if (&other != &own) {
        other.written_by = current_;
    }
}

}  // namespace normtune::emulation
