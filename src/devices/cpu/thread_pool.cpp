#include "devices/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <climits>
#include <utility>

namespace normtune::cpu {

namespace {

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Waits for `value` to leave `old`: a short spin (regions follow each other within microseconds), then yields, because
/// a machine may have fewer processors free than threads.
template <class Done>
void spin_until(const Done& done) {
    for (int turn = 0; !done(); ++turn) {
        if (turn < 4096) {
            relax();
        } else {
            sched_yield();
        }
    }
}

void pin(int cpu) {
    // A processor that was taken away meanwhile is no error: the thread runs unpinned.
    const auto count = static_cast<std::size_t>(cpu) + 1;
    cpu_set_t* set = CPU_ALLOC(count);
    if (set != nullptr) {
        CPU_ZERO_S(CPU_ALLOC_SIZE(count), set);
        CPU_SET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(count), set);
        pthread_setaffinity_np(pthread_self(), CPU_ALLOC_SIZE(count), set);
        CPU_FREE(set);
    }
}

constexpr int end_epoch = -1;

}  // namespace

void Team::fork(Body body, void* context) {
    if (size_ == 1) {
        body(context, 0);
        return;
    }
    body_ = body;
    context_ = context;
    running_.store(size_ - 1, std::memory_order_relaxed);
    const int last = epoch_.load(std::memory_order_relaxed);
    epoch_.store(last == INT_MAX ? 0 : last + 1, std::memory_order_release);
    epoch_.notify_all();
    body(context, 0);
    spin_until([&] { return running_.load(std::memory_order_acquire) == 0; });
}

void Team::barrier() {
    if (size_ == 1) {
        return;
    }
    const int generation = generation_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == size_ - 1) {
        arrived_.store(0, std::memory_order_relaxed);
        generation_.store(generation == INT_MAX ? 0 : generation + 1, std::memory_order_release);
        return;
    }
    spin_until([&] { return generation_.load(std::memory_order_acquire) != generation; });
}

void Team::work(int thread) {
    constexpr auto patience = std::chrono::microseconds(200);
    int seen = 0;
    for (;;) {
        const auto start = std::chrono::steady_clock::now();
        while (epoch_.load(std::memory_order_acquire) == seen) {
            relax();
            if (std::chrono::steady_clock::now() - start > patience) {
                epoch_.wait(seen, std::memory_order_acquire);
            }
        }
        seen = epoch_.load(std::memory_order_acquire);
        if (seen == end_epoch) {
            return;
        }
        body_(context_, thread);
        running_.fetch_sub(1, std::memory_order_release);
    }
}

ThreadPool::ThreadPool(const std::vector<int>& cpus) : team_(static_cast<int>(cpus.size())) {
    threads_.reserve(cpus.size());
    try {
        threads_.emplace_back([this, cpu = cpus[0]] {
            pin(cpu);
            lead_loop();
        });
        for (std::size_t i = 1; i < cpus.size(); ++i) {
            threads_.emplace_back([this, i, cpu = cpus[i]] {
                pin(cpu);
                team_.work(static_cast<int>(i));
            });
        }
    } catch (...) {  // the system allows no more threads: those that run would end the process
        end();
        throw;
    }
}

ThreadPool::~ThreadPool() {
    end();
}

void ThreadPool::end() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    team_.epoch_.store(end_epoch, std::memory_order_release);
    team_.epoch_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void ThreadPool::lead(const std::function<void(Team&)>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
    if (error_) {
        std::rethrow_exception(std::exchange(error_, nullptr));
    }
}

void ThreadPool::lead_loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || work_ != nullptr; });
        if (stop_) {
            return;
        }
        lock.unlock();
        std::exception_ptr error;
        try {
            (*work_)(team_);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        error_ = error;
        work_ = nullptr;
        changed_.notify_all();
    }
}

}  // namespace normtune::cpu
