#include "kernels/gpu/emulation/order.h"

#include <algorithm>

namespace normtune::emulation {

void Order::begin_launch(int programs, int threads, int warp_size, bool overlaps) {
    threads_ = threads;
    warp_size_ = warp_size;
    overlaps_ = overlaps;
    previous_start_ = launch_start_;
    launch_start_ = clock_++;
    const auto count = static_cast<std::size_t>(programs) * static_cast<std::size_t>(threads) + 1;
    programs_.assign(static_cast<std::size_t>(programs), {});
    group_.assign(count, -1);
    awaited_.assign(count, 0);
    warp_barriers_.clear();
    own_.clear();
    released_.clear();
    bulk_barriers_ = 0;
    landed_.clear();
    sending_.clear();
    sent_.clear();
    awaited_bulk_.assign(count, {});
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
    for (int thread = program * threads_ + 1; bulk_barriers_ > 0 && thread <= (program + 1) * threads_; ++thread) {
        for (const auto& [barrier, time] : awaited_bulk_[static_cast<std::size_t>(thread)].phases) {
            passed.phases[barrier] = std::max(passed.phases[barrier], time);
        }
    }
}

void Order::pass_group_barrier(int program, int group, const std::vector<std::uint32_t>& members) {
    programs_[static_cast<std::size_t>(program)].group_barriers.at(static_cast<std::size_t>(group)) = clock_++;
    for (const std::uint32_t member : members) {
        group_[member] = group;
    }
}

void Order::Sent::add(const Sent& other) {
    for (const auto& [warp, time] : other.warps) {
        warps[warp] = std::max(warps[warp], time);
    }
    for (const auto& [barrier, time] : other.phases) {
        phases[barrier] = std::max(phases[barrier], time);
    }
}

void Order::send(std::uint32_t thread, std::uint32_t barrier) {
    Sent& sending = sending_[barrier];
    if (const auto passed = warp_barriers_.find(warp_of(thread)); passed != warp_barriers_.end()) {
        sending.warps[passed->first] = passed->second;
    }
    sending.add(awaited_bulk_[thread]);
}

Stamp Order::end_bulk_phase(std::uint32_t barrier) {
    if (const auto sending = sending_.extract(barrier); !sending.empty()) {
        sent_[barrier].add(sending.mapped());
    }
    return landed_[barrier] = {barrier, clock_++};
}

void Order::await_bulk(std::uint32_t thread, std::uint32_t barrier) {
    Sent& awaited = awaited_bulk_[thread];
    awaited.phases[barrier] = landed_[barrier].time;
    if (const auto sent = sent_.find(barrier); sent != sent_.end()) {
        awaited.add(sent->second);
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

bool Order::before(Stamp stamp, std::uint32_t thread, bool asks_bulk, bool writes) const {
    if (stamp.time <= launch_start_) {
        return !overlaps_ || stamp.time <= previous_start_ || awaited_[thread] != 0;
    }
    if (stamp.thread == thread) {
        return true;
    }
    const auto by = [&stamp](const std::map<std::uint32_t, Time>& times, std::uint32_t of) {
        const auto found = times.find(of);
        return found != times.end() && stamp.time <= found->second;
    };
    const int program = program_of(thread);
    const Program& mine = programs_[static_cast<std::size_t>(program)];
    if (by_bulk_copy(stamp)) {
        return by(awaited_bulk_[thread].phases, stamp.thread) || (writes && by(mine.phases, stamp.thread));
    }
    const int other = program_of(stamp.thread);
    const std::uint32_t warp = warp_of(stamp.thread);
    if ((warp == warp_of(thread) && by(warp_barriers_, warp)) || (!asks_bulk && by(awaited_bulk_[thread].warps, warp))) {
        return true;
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
