// Independent pieces of work, and rows of host work, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/cores.h"

namespace normtune {

/// One more thread, which the vector's end waits for; false where the system allows no more, and the work has to do without it.
template <typename Work>
bool start_thread(std::vector<std::jthread>& threads, Work&& work) {
    try {
        threads.emplace_back(std::forward<Work>(work));
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

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
    {
        std::vector<std::jthread> others;
        const std::size_t threads = std::min<std::size_t>(static_cast<std::size_t>(usable_cores()), count);
        while (others.size() + 1 < threads && start_thread(others, take)) {
        }
        take();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// Threads that `for_row_blocks` uses for this much work; small work stays on the calling thread.
inline int host_threads(std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t worth_a_thread = std::int64_t{1} << 18;  // elements
    const std::int64_t worth = std::min(rows, rows * cols / worth_a_thread);
    return static_cast<int>(std::clamp<std::int64_t>(worth, 1, usable_cores()));
}

/// Calls work(first, last, index) once a thread, over disjoint blocks that cover [0, rows); `work` must not throw.
template <typename Work>
void for_row_blocks(std::int64_t rows, int threads, const Work& work) {
    const auto block = [&work, rows, threads](int index) { work(rows * index / threads, rows * (index + 1) / threads, index); };
    std::vector<std::jthread> others;
    for (int index = 1; index < threads; ++index) {
        if (!start_thread(others, [&block, index] { block(index); })) {
            block(index);
        }
    }
    block(0);
}

}  // namespace normtune
