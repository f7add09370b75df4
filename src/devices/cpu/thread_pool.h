// Pinned threads that start a parallel region within about a microsecond and wait for each other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace normtune::cpu {

/// What a pool's first thread may do with the others. Only valid inside ThreadPool::lead.
class Team {
public:
    using Body = void (*)(void* context, int thread);

    int size() const { return size_; }
    /// Runs body(context, thread) on every thread, 0 being the caller, and returns once all are done. Bodies must not
    /// throw.
    void fork(Body body, void* context);
    template <class Function>
    void fork(Function& function) {
        fork([](void* context, int thread) { (*static_cast<Function*>(context))(thread); }, &function);
    }
    /// Called by every thread of a fork: returns once all have called it.
    void barrier();

private:
    friend class ThreadPool;
    explicit Team(int size) : size_(size) {}
    void work(int thread);

    const int size_;
    Body body_ = nullptr;  // written before epoch_ is released
    void* context_ = nullptr;
    alignas(64) std::atomic<int> epoch_{0};  // goes up by one a fork; negative: the end
    alignas(64) std::atomic<int> running_{0};
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<int> generation_{0};
};

class ThreadPool {
public:
    /// One thread for each logical processor in `cpus`, pinned to it where the system lets us. Throws
    /// std::system_error.
    explicit ThreadPool(const std::vector<int>& cpus);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const { return team_.size(); }
    /// Runs `work` on the pool's first thread while the caller sleeps; passes its exception on. Not reentrant.
    void lead(const std::function<void(Team&)>& work);

private:
    void lead_loop();
    void end();

    Team team_;
    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void(Team&)>* work_ = nullptr;
    std::exception_ptr error_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace normtune::cpu
