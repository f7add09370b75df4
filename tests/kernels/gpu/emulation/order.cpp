#include "kernels/gpu/emulation/order.h"

#include <algorithm>

namespace normtune::emulation {

void Order::begin_launch(int programs, int threads, int cluster, bool overlaps) {
    threads_ = threads;
    cluster_ = cluster;
    overlaps_ = overlaps;
    previous_start_ = launch_start_;
    launch_start_ = clock_++;
    const auto count = static_cast<std::size_t>(programs) * static_cast<std::size_t>(threads) + 1;
    programs_.assign(static_cast<std::size_t>(programs), {});
    group_.assign(count, -1);
    awaited_.assign(count, 0);
    arrivals_.assign(cluster > 1 ? count : 0, {});
    own_.clear();
    released_.clear();
    bulk_barriers_ = 0;
    landed_.clear();
    awaited_bulk_.clear();
    fenced_.clear();
}

void Order::join(Known& into, const Known& from) {
    into.resize(std::max(into.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
        into[i] = std::max(into[i], from[i]);
    }
}

void Order::pass_program_barrier(int program) {
    Program& passed = programs_[static_cast<std::size_t>(program)];
    passed.barrier = clock_++;
    const auto first = own_.lower_bound(static_cast<std::uint32_t>(program * threads_ + 1));
    const auto last = own_.upper_bound(static_cast<std::uint32_t>((program + 1) * threads_));
    for (auto own = first; own != last; ++own) {
        join(passed.known, own->second);
    }
    own_.erase(first, last);
}

void Order::pass_group_barrier(int program, int group, const std::vector<std::uint32_t>& members) {
    programs_[static_cast<std::size_t>(program)].group_barriers.at(static_cast<std::size_t>(group)) = clock_++;
    for (const std::uint32_t member : members) {
        group_[member] = group;
    }
}

void Order::arrive_in_cluster(std::uint32_t thread) {
    if (cluster_ > 1) {
        arrivals_[thread].next = clock_++;
    }
}

void Order::pass_cluster_barrier(int program) {
    const auto first = static_cast<std::size_t>(program);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(cluster_); ++i) {
        ++programs_[i].cluster_barriers;
    }
    if (cluster_ > 1) {
        const std::size_t threads = static_cast<std::size_t>(threads_);
        for (std::size_t thread = first * threads + 1; thread <= (first + static_cast<std::size_t>(cluster_)) * threads; ++thread) {
            Arrivals& arrivals = arrivals_[thread];
            arrivals.before_last = arrivals.last;
            arrivals.last = arrivals.next;
        }
    }
}

void Order::wait_in_cluster(std::uint32_t thread) {
    if (cluster_ > 1) {
        ++arrivals_[thread].waited;
    }
}

void Order::acquire(std::uint32_t thread, const void* word) {
    if (const auto found = released_.find(word); found != released_.end()) {
        join(own_[thread], found->second);
    }
}

void Order::release(std::uint32_t thread, const void* word) {
    const int program = program_of(thread);
    const Program& releasing = programs_[static_cast<std::size_t>(program)];
    Known& known = released_[word];
    known.resize(programs_.size());
    join(known, releasing.known);
    if (const auto own = own_.find(thread); own != own_.end()) {
        join(known, own->second);
    }
    Time& itself = known[static_cast<std::size_t>(program)];
    itself = std::max(itself, releasing.barrier);
}

void Order::await_previous_launch(std::uint32_t thread) {
    awaited_[thread] = 1;
}

bool Order::before(Stamp stamp, std::uint32_t thread) const {
    if (stamp.time <= launch_start_) {
        return !overlaps_ || stamp.time <= previous_start_ || awaited_[thread] != 0;
    }
    if (stamp.thread == thread) {
        return true;
    }
    if (by_bulk_copy(stamp)) {
        const auto awaited = awaited_bulk_.find({thread, stamp.thread});
        return awaited != awaited_bulk_.end() && stamp.time <= awaited->second;
    }
    const int program = program_of(thread);
    const int other = program_of(stamp.thread);
    const Program& mine = programs_[static_cast<std::size_t>(program)];
    if (cluster_ > 1 && program / cluster_ == other / cluster_) {
        const Arrivals& arrivals = arrivals_[stamp.thread];
        if (stamp.time <= (arrivals_[thread].waited == mine.cluster_barriers ? arrivals.last : arrivals.before_last)) {
            return true;
        }
    }
    if (other == program) {
        const int group = group_[thread];
        return stamp.time <= mine.barrier ||
               (group >= 0 && group == group_[stamp.thread] && stamp.time <= mine.group_barriers.at(static_cast<std::size_t>(group)));
    }
    const auto own = own_.find(thread);
    return knows(mine.known, other, stamp.time) || (own != own_.end() && knows(own->second, other, stamp.time));
}

}  // namespace normtune::emulation
