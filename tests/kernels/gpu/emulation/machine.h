// A GPU as the kernels see it, on one thread of the host: threads of a program as coroutines, barriers and shuffles as
// meetings of them, and every access to memory checked. The first thing that is wrong ends the launch and is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu/emulation/fibre.h"
#include "kernels/gpu/emulation/order.h"
#include "kernels/gpu/emulation/shadow.h"

namespace normtune::emulation {

/// Global memory that a kernel may use: rows of `row_bytes`, `pitch_bytes` apart.
struct Span {
    std::string name;
    std::byte* base = nullptr;
    std::int64_t rows = 1;
    std::int64_t row_bytes = 0;
    std::int64_t pitch_bytes = 0;
    bool writable = false;
};

struct LaunchRequest {
    void (*kernel)(void** arguments) = nullptr;
    void** arguments = nullptr;
    int grid_x = 1;
    int grid_y = 1;
    int cluster = 1;  // programs, one after another along x, that live at the same time
    int threads = 1;
    int warp_size = 32;
    std::int64_t shared_bytes = 0;  // dynamic
    std::byte* static_shared = nullptr;
    std::int64_t static_shared_bytes = 0;
    bool cooperative = false;  // all programs live at the same time; else they follow each other
    bool overlaps = false;     // may start before the launch ahead has ended
};

/// Where a thread waits.
struct Site {
    const char* file = "";
    int line = 0;
};
std::string text(Site site);

class Machine {
public:
    explicit Machine(std::vector<Span> spans);

    /// Empty, or one line: what the kernel did wrong, which thread of which program, and where.
    std::string launch(const LaunchRequest& request);

    /// The machine whose kernel runs. What follows is for that kernel.
    static Machine& running();
    int thread() const { return current_->index; }
    int program_x() const { return current_->program->x; }
    int program_y() const { return current_->program->y; }
    std::byte* dynamic_shared() { return current_->program->shared; }
    void program_barrier(Site site);
    void group_barrier(int group, int threads, Site site);
    /// All threads of a warp, which orders what they do.
    void warp_barrier(Site site);
    /// Two halves of a barrier of all threads of the cluster, which orders nothing but the beginning of shared barriers.
    void cluster_arrive(Site site);
    void cluster_wait(Site site);
    /// Barriers of bulk copies that this thread has begun are known to the cluster's other programs once they meet after this.
    void share_barriers();
    /// To where `to` lies in the shared memory of the cluster's program `rank`, whose `barrier` counts the bytes. They come as late as
    /// those of bulk copies.
    void send(float* to, void* barrier, int rank, float value);
    float shuffle_xor(float value, int mask, Site site);
    /// What lane `from` of each `lanes` lanes has.
    float shuffle_from(float value, int from, int lanes, Site site);
    void access(const void* at, std::size_t bytes, AccessKind kind, std::uint32_t copy = 0);
    /// Of a vector: it must lie at a multiple of its size.
    void vector_access(const void* at, std::size_t bytes, AccessKind kind);
    /// Of zeros where `from` is null.
    void copy_async(void* to, const void* from, std::size_t bytes);
    void commit_async() { current_->copies.emplace_back(); }
    void wait_async(std::size_t pending);
    /// Bulk copies: a barrier's phase ends once one thread has told how many bytes come and all of them have. They come as late
    /// as they may: when somebody waits for them.
    void begin_bulk_barrier(void* barrier);
    void expect_bulk(void* barrier, std::size_t bytes);
    void wait_bulk(void* barrier, unsigned parity, Site site);
    void load_bulk(void* to, const void* from, std::size_t bytes, void* barrier);
    void store_bulk(void* to, const void* from, std::size_t bytes);
    void commit_bulk() { current_->bulk_stores.emplace_back(); }
    void wait_bulk_read(std::size_t pending);
    void fence_bulk() { order_.fence_bulk(current_->number); }
    void acquire(const void* word) { order_.acquire(current_->number, word); }
    void release(const void* word);
    /// A thread that reads a word again and again lets others go on.
    void spin(Site site);
    /// Every second program's comes late: until nobody else can go on.
    void come_late();
    /// What may end another thread's spinning has happened.
    void make_progress() { ++progress_; }
    void await_previous_launch() { order_.await_previous_launch(current_->number); }

private:
    /// A copy lands when it is waited for, as late as a real one may: whoever reads too early reads what was there.
    struct PendingCopy {
        std::byte* to;
        std::byte data[16];
        std::size_t bytes;
    };
    struct BulkBytes {
        std::size_t offset;  // in shared memory
        std::vector<std::byte> data;
    };
    struct Program;
    struct Thread {
        Program* program = nullptr;
        int index = 0;             // in its program
        std::uint32_t number = 0;  // in the launch, from 1
        Fibre fibre;
        const char* waits_at = nullptr;  // "barrier", …; null: it does not
        Site site;                       // where it waits, or waited last
        bool spins = false;
        bool ended = false;
        bool arrived = false;                             // at the cluster's barrier, and has not waited yet
        int cluster_barriers = 0;                         // that it has passed
        float value = 0;                                  // that it hands over in a shuffle, then what it gets
        int from = 0;                                     // the lane of its warp whose value it gets
        std::vector<std::vector<PendingCopy>> copies;     // by group; the last group is not committed yet
        std::vector<std::vector<BulkBytes>> bulk_stores;  // that may still be read; groups as above
    };
    struct BulkBarrier {
        Program* program = nullptr;
        std::uint32_t number = 0;
        int shared_before = -1;  // the cluster's barrier that its beginning is known behind; -1: to no other program
        Stamp begun;
        unsigned phase = 0;  // that have ended
        bool told = false;   // how many bytes come
        std::size_t expected = 0, copied = 0;
        std::vector<BulkBytes> copies;
        std::vector<Thread*> waiting;

        bool is_shared_with(const Thread& thread) const { return shared_before >= 0 && shared_before < thread.cluster_barriers; }
    };
    /// Threads that wait for each other at one place.
    struct Meeting {
        std::vector<Thread*> waiting;
        int detail = 0;  // a shuffle's mask, a group's threads: all must have the same
    };
    struct Cluster {
        std::vector<Program*> programs;
        std::vector<Thread*> waiting;
        int arrived = 0;
        int barriers = 0;  // that all have come to
    };
    struct Program {
        int x = 0, y = 0, index = 0;
        std::shared_ptr<Cluster> cluster;
        std::vector<Thread*> threads;
        Meeting all;
        std::vector<Meeting> groups;
        std::vector<Meeting> warps;
        std::unique_ptr<std::byte[]> shared_memory;
        std::byte* shared = nullptr;  // within shared_memory, at a multiple of 16
        std::unique_ptr<Shadow> shadow;
        std::map<std::size_t, BulkBarrier> bulk_barriers;  // by offset in shared memory
    };

    void begin_program(int x, int y);
    void run_programs();
    void run_thread(Thread& thread);
    static void enter();
    bool meet(Meeting& meeting, int expected, int detail, const char* kind, Site site);
    float shuffle(float value, int from, int detail, Site site);
    void leave(Meeting& meeting);
    [[noreturn]] void fail(const std::string& what);
    std::string who(const Thread& thread) const;
    std::string stuck() const;
    void access_shared(Shadow& shadow, std::size_t offset, std::size_t bytes, AccessKind kind, const char* memory);
    void access_span(std::size_t span, std::size_t offset, std::size_t bytes, AccessKind kind, std::uint32_t copy);
    std::size_t offset_in_shared(const void* at, std::size_t bytes);
    BulkBarrier& bulk_barrier(void* at, AccessKind kind);
    void check_bulk(const void* memory, const void* shared, std::size_t bytes, AccessKind kind, std::uint32_t copy);
    void try_to_end_phase(BulkBarrier& barrier);

    std::vector<Span> spans_;
    std::vector<Shadow> shadows_;  // of the spans
    Order order_;
    LaunchRequest request_;
    std::vector<std::unique_ptr<Program>> programs_;
    std::vector<std::unique_ptr<Thread>> threads_;  // kept for the programs that follow
    std::size_t threads_in_use_ = 0;
    std::deque<Thread*> ready_;
    std::deque<Thread*> late_;
    std::unique_ptr<Shadow> static_shadow_;
    Thread* current_ = nullptr;
    Fibre scheduler_;
    std::uint64_t progress_ = 0;
    std::string failure_;
};

}  // namespace normtune::emulation
