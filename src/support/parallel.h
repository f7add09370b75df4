// Rows of host work, spread over a few threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/cores.h"

namespace normtune {

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
