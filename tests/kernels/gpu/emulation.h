// Stands in for a GPU: the prelude's functions for the host, and the threads of a program as coroutines on one stack
// each. Included before the kernels' source in a translation unit of its own; NT_WARP_SIZE is 32 or 64.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#define NT_EMULATED 1
#define NT_CONSTANT inline
#define NT_DEVICE inline
#define NT_SHARED static thread_local
#define NT_UNROLL
#define NT_NO_UNROLL
#define NT_KERNEL(threads, programs) extern "C" void
#define NT_GROUP_BARRIERS 0

namespace emulation {

struct Barrier {
    int arrived = 0;
    int generation = 0;
};

/// An asynchronous copy lands when it is waited for, as late as a real one may: whoever reads too early reads what was
/// there before.
struct PendingCopy {
    void* to;
    unsigned char data[16];
    int bytes;
};
using CopyGroups = std::vector<std::vector<PendingCopy>>;  // of one thread; the last one is not committed yet

struct Program {
    int x = 0, y = 0, threads = 0;
    int current = 0;
    std::vector<ucontext_t> contexts;
    std::vector<std::vector<char>> stacks;
    std::vector<char> finished;
    ucontext_t scheduler{};
    Barrier all;
    std::vector<Barrier> warps;
    std::vector<float> exchange;  // a warp's shuffled values
    std::vector<unsigned char> shared;
    std::vector<CopyGroups> copies;
    const std::function<void()>* body = nullptr;
};

inline thread_local Program* program = nullptr;

inline void yield() {
    swapcontext(&program->contexts[static_cast<std::size_t>(program->current)], &program->scheduler);
}

inline void wait(Barrier& barrier, int expected) {
    const int generation = barrier.generation;
    if (++barrier.arrived == expected) {
        barrier.arrived = 0;
        ++barrier.generation;
        return;
    }
    while (barrier.generation == generation) {
        yield();
    }
}

inline void enter() {
    (*program->body)();
    program->finished[static_cast<std::size_t>(program->current)] = 1;
}

/// One program, its threads in turn until all have ended.
inline void run_program(int x, int y, int threads, std::int64_t shared_bytes, const std::function<void()>& body) {
    Program p;
    p.x = x;
    p.y = y;
    p.threads = threads;
    p.body = &body;
    const auto count = static_cast<std::size_t>(threads);
    p.contexts.resize(count);
    p.stacks.assign(count, std::vector<char>(64 << 10));
    p.finished.assign(count, 0);
    p.warps.resize(count / NT_WARP_SIZE + 1);
    p.exchange.resize(count);
    p.copies.assign(count, CopyGroups(1));
    p.shared.assign(static_cast<std::size_t>(shared_bytes) + 16, 0xff);
    program = &p;
    for (std::size_t i = 0; i < count; ++i) {
        getcontext(&p.contexts[i]);
        p.contexts[i].uc_stack.ss_sp = p.stacks[i].data();
        p.contexts[i].uc_stack.ss_size = p.stacks[i].size();
        p.contexts[i].uc_link = &p.scheduler;
        makecontext(&p.contexts[i], enter, 0);
    }
    for (bool running = true; running;) {
        running = false;
        for (std::size_t i = 0; i < count; ++i) {
            if (p.finished[i] == 0) {
                running = true;
                p.current = static_cast<int>(i);
                swapcontext(&p.scheduler, &p.contexts[i]);
            }
        }
    }
    program = nullptr;
}

/// A cooperative launch's programs live at the same time, on threads of their own; others follow each other.
inline void run_grid(int grid_x, int grid_y, int threads, std::int64_t shared_bytes, bool cooperative,
                     const std::function<void()>& body) {
    std::vector<std::thread> together;
    for (int y = 0; y < grid_y; ++y) {
        for (int x = 0; x < grid_x; ++x) {
            if (cooperative) {
                together.emplace_back(run_program, x, y, threads, shared_bytes, std::cref(body));
            } else {
                run_program(x, y, threads, shared_bytes, body);
            }
        }
    }
    for (std::thread& thread : together) {
        thread.join();
    }
}

}  // namespace emulation

inline int nt_thread() {
    return emulation::program->current;
}
inline int nt_program_x() {
    return emulation::program->x;
}
inline int nt_program_y() {
    return emulation::program->y;
}
inline char* nt_emulated_shared() {
    const auto at = reinterpret_cast<std::uintptr_t>(emulation::program->shared.data());
    return reinterpret_cast<char*>((at + 15) / 16 * 16);
}
inline void nt_barrier() {
    emulation::wait(emulation::program->all, emulation::program->threads);
}
inline void nt_group_barrier(int, int) {
    nt_barrier();
}
inline float nt_shuffle_xor(float v, int mask) {
    emulation::Program& p = *emulation::program;
    const int thread = p.current;
    const int lanes = std::min(NT_WARP_SIZE, p.threads);
    emulation::Barrier& warp = p.warps[static_cast<std::size_t>(thread / NT_WARP_SIZE)];
    p.exchange[static_cast<std::size_t>(thread)] = v;
    emulation::wait(warp, lanes);
    const float out = p.exchange[static_cast<std::size_t>(thread ^ mask)];
    emulation::wait(warp, lanes);
    return out;
}

inline unsigned nt_float_bits(float v) {
    unsigned out;
    std::memcpy(&out, &v, 4);
    return out;
}
inline float nt_bits_float(unsigned v) {
    float out;
    std::memcpy(&out, &v, 4);
    return out;
}
inline void nt_forget(unsigned&) {}
inline float nt_rsqrt(float v) {
    return 1.0f / std::sqrt(v);
}

inline float nt_from_fp16(unsigned bits) {
    const float magnitude = (bits & 0x7c00u) == 0u ? std::ldexp(static_cast<float>(bits & 0x3ffu), -24)
                                                   : std::ldexp(static_cast<float>((bits & 0x3ffu) | 0x400u),
                                                                static_cast<int>((bits >> 10) & 31u) - 25);
    const float value = (bits & 0x7c00u) == 0x7c00u ? ((bits & 0x3ffu) != 0u ? NAN : INFINITY) : magnitude;
    return (bits & 0x8000u) != 0u ? -value : value;
}
inline unsigned nt_one_fp16(float v) {
    const unsigned sign = (nt_float_bits(v) >> 16) & 0x8000u;
    const float a = std::fabs(v);
    if (!(a < 65520.0f)) {
        return sign | (std::isnan(v) ? 0x7e00u : 0x7c00u);
    }
    const int exponent = std::max(a > 0.0f ? std::ilogb(a) : -14, -14);
    const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(a, 10 - exponent)));  // ties to even
    return sign | (static_cast<unsigned>(exponent + 14) * 1024u + steps);
}
inline unsigned nt_pair_fp16(float low, float high) {
    return nt_one_fp16(low) | nt_one_fp16(high) << 16;
}

template <int Bytes, bool Constant>
void nt_read(unsigned* w, const void* p) {
    w[0] = 0;
    std::memcpy(w, p, Bytes);
}
template <int Bytes>
void nt_read_cached(unsigned* w, const void* p) {
    nt_read<Bytes, true>(w, p);
}
template <int Bytes>
void nt_write(void* p, const unsigned* w) {
    std::memcpy(p, w, Bytes);
}
template <int Count>
void nt_read_coherent(float* v, const float* p) {
    std::memcpy(v, p, Count * sizeof(float));
}
inline void nt_add_relaxed(float* p, float v) {
    *p += v;
}
inline void nt_fence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline unsigned nt_fetch_add(unsigned* p, unsigned v) {
    return std::atomic_ref<unsigned>(*p).fetch_add(v);
}
inline unsigned nt_count_wrapping(unsigned* p, unsigned last) {
    const unsigned old = *p;
    *p = old >= last ? 0u : old + 1u;
    return old;
}
inline unsigned nt_read_acquire(const unsigned* p) {
    std::this_thread::yield();
    return std::atomic_ref<unsigned>(*const_cast<unsigned*>(p)).load();
}
inline void nt_await_previous_launch() {}
inline void nt_release_next_launch() {}

#if NT_EMULATE_ASYNC_COPY
#define NT_ASYNC_COPY 1
inline emulation::CopyGroups& nt_copy_groups() {
    return emulation::program->copies[static_cast<std::size_t>(nt_thread())];
}
template <int Bytes>
void nt_copy_async(void* to, const void* from) {
    emulation::PendingCopy copy{to, {}, Bytes};
    std::memcpy(copy.data, from, Bytes);
    nt_copy_groups().back().push_back(copy);
}
inline void nt_commit_async() {
    nt_copy_groups().emplace_back();
}
template <int Pending>
void nt_wait_async() {
    auto& groups = nt_copy_groups();
    while (groups.size() > Pending + 1) {
        for (const emulation::PendingCopy& copy : groups.front()) {
            std::memcpy(copy.to, copy.data, static_cast<std::size_t>(copy.bytes));
        }
        groups.erase(groups.begin());
    }
}
#endif
