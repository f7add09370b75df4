// What happens before what in a launch: the order that barriers and atomics make, and nothing else does. A shuffle
// hands over a value and orders no memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace normtune::emulation {

/// Ticks at each barrier that is passed, over all threads: an access made at a time up to a barrier's was before it.
using Time = std::uint32_t;

/// Who made an access, and when. Threads are numbered through a launch's programs, from 1; 0: nobody.
struct Stamp {
    std::uint32_t thread = 0;
    Time time = 0;
};

inline constexpr int most_named_barriers = 16;

/// In place of a thread: the bulk copies that a barrier counts, by the barrier's number.
inline constexpr std::uint32_t bulk_mark = 0x80000000U;
constexpr bool by_bulk_copy(const Stamp& stamp) {
    return (stamp.thread & bulk_mark) != 0;
}

class Order {
public:
    /// `overlaps`: the launch may start before the one ahead of it has ended; its threads wait for that one themselves.
    void begin_launch(int programs, int threads, int warp_size, bool overlaps);
    /// All threads of the program have come to the same barrier.
    void pass_program_barrier(int program);
    /// All threads of a group have come to their own; `members` are numbers in the launch.
    void pass_group_barrier(int program, int group, const std::vector<std::uint32_t>& members);
    /// All threads of the warp that this one is of have come to its barrier.
    void pass_warp_barrier(std::uint32_t thread) { warp_barriers_[warp_of(thread)] = clock_++; }
    /// An atomic read and a read-modify-write of `word`, acquire and release. Released is what lies before the
    /// program's last barrier: what the thread did since then by itself counts as not released.
    void acquire(std::uint32_t thread, const void* word);
    void release(std::uint32_t thread, const void* word);
    /// A barrier of bulk copies has its phase; what its copies wrote is before what a thread does once it has waited for that phase.
    std::uint32_t new_bulk_barrier() { return bulk_mark | bulk_barriers_++; }
    /// The thread sends what the barrier counts: what its warp did before that warp's last barrier, and what the thread has waited for, is
    /// before what another does once it has waited for the phase.
    void send(std::uint32_t thread, std::uint32_t barrier);
    Stamp end_bulk_phase(std::uint32_t barrier);
    void await_bulk(std::uint32_t thread, std::uint32_t barrier);
    /// What the thread wrote is seen by bulk copies from here on.
    void fence_bulk(std::uint32_t thread) { fenced_[thread] = clock_++; }
    bool seen_by_bulk(Stamp stamp) const {
        const auto fence = fenced_.find(stamp.thread);
        return by_bulk_copy(stamp) || (fence != fenced_.end() && stamp.time <= fence->second);
    }
    /// The thread has waited for the launch ahead.
    void await_previous_launch(std::uint32_t thread);

    Stamp now(std::uint32_t thread) const { return {thread, clock_}; }
    /// Does what was done at `stamp` happen before what `thread` does now? `asks_bulk`: before what bulk copies do that it asks for now,
    /// for which what others have sent stands for nothing that these did before. `writes`: what a bulk copy wrote is before it, too, if
    /// another thread of its program has waited for that ahead of a barrier of all. To read it each thread waits itself.
    bool before(Stamp stamp, std::uint32_t thread, bool asks_bulk = false, bool writes = false) const;
    bool from_earlier_launch(Stamp stamp) const { return stamp.time <= launch_start_; }
    int program_of(std::uint32_t thread) const { return static_cast<int>(thread - 1) / threads_; }
    int thread_in_program(std::uint32_t thread) const { return static_cast<int>(thread - 1) % threads_; }

private:
    using Known = std::vector<Time>;  // by program: up to which time its accesses are known; empty: nothing is
    struct Program {
        Time barrier = 0;
        std::array<Time, most_named_barriers> group_barriers{};
        Known known;                           // of other programs, to all its threads
        std::map<std::uint32_t, Time> phases;  // of barriers of bulk copies, to all its threads
    };
    /// What is known of warps and of phases of barriers, up to which time.
    struct Sent {
        std::map<std::uint32_t, Time> warps;
        std::map<std::uint32_t, Time> phases;

        void add(const Sent& other);
    };
    static void join(Known& into, const Known& from);
    static bool knows(const Known& known, int program, Time time) {
        return !known.empty() && time <= known[static_cast<std::size_t>(program)];
    }

    std::uint32_t warp_of(std::uint32_t thread) const { return (thread - 1) / static_cast<std::uint32_t>(warp_size_); }

    int threads_ = 1;
    int warp_size_ = 1;
    Time clock_ = 1;
    Time launch_start_ = 0;
    Time previous_start_ = 0;
    bool overlaps_ = false;
    std::vector<Program> programs_;
    std::vector<int> group_;                       // of each thread; -1: none yet
    std::vector<char> awaited_;                    // by thread
    std::map<std::uint32_t, Time> warp_barriers_;  // by warp of the launch: its last
    std::map<std::uint32_t, Known> own_;           // what single threads know that their programs do not yet
    std::map<const void*, Known> released_;        // at each word
    std::uint32_t bulk_barriers_ = 0;
    std::map<std::uint32_t, Stamp> landed_;  // by barrier: its last phase
    std::map<std::uint32_t, Sent> sending_;  // by barrier: with the phase that has not ended
    std::map<std::uint32_t, Sent> sent_;     // by barrier: with those that have
    std::vector<Sent> awaited_bulk_;         // by thread
    std::map<std::uint32_t, Time> fenced_;   // by thread
};

}  // namespace normtune::emulation
