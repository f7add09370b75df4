// Independent pieces of work on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

#include "support/cores.h"
#include "support/parallel.h"

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

}  // namespace normtune
