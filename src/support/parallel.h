// Independent pieces of work, and rows of host work, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "support/cores.h"

namespace normtune {

/// Calls work(i) for each i below `count`, in any order and on several threads. Once all have ended, throws what the
/// least i of those that failed threw; a few calls after it may have been left out.
template <typename Work>
void on_all_cores(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next = 0;
    std::mutex failing;
    std::size_t failed = count;
    std::exception_ptr failure;
    const auto take = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(failing);
                if (i < failed) {
                    failed = i;
                    failure = std::current_exception();
                }
                next = count;
            }
        }
    };
    std::vector<std::future<void>> others;
    const std::size_t threads = std::min<std::size_t>(static_cast<std::size_t>(usable_cores()), count);
    for (std::size_t i = 1; i < threads; ++i) {
        others.push_back(std::async(std::launch::async, take));
    }
    take();
    for (std::future<void>& other : others) {
        other.get();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// Threads that `for_row_blocks` uses for this much work; small work stays on the calling thread.
inline int host_threads(std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t worth_a_thread = std::int64_t{1} << 18;  // elements
    const std::int64_t worth = std::min(rows, rows * cols / worth_a_thread);
    return static_cast<int>(std::clamp<std::int64_t>(std::min<std::int64_t>(worth, usable_cores()), 1, 8));
}

/// Calls work(first, last, index) once a thread, over disjoint blocks that cover [0, rows); `work` must not throw.
template <typename Work>
void for_row_blocks(std::int64_t rows, int threads, const Work& work) {
    std::vector<std::thread> others;
    for (int index = 1; index < threads; ++index) {
        others.emplace_back([&work, rows, threads, index] { work(rows * index / threads, rows * (index + 1) / threads, index); });
    }
    work(std::int64_t{0}, rows / threads, 0);
    for (std::thread& other : others) {
        other.join();
    }
}

}  // namespace normtune
