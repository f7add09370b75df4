// Threads of host work, and rows spread over a few of them.
#pragma once

#include <algorithm>
#include <cstdint>
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

/// Threads that `for_row_blocks` uses for this much work; small work stays on the calling thread.
inline int host_threads(std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t worth_a_thread = std::int64_t{1} << 18;  // elements
    const std::int64_t worth = std::min(rows, rows * cols / worth_a_thread);
    return static_cast<int>(std::clamp<std::int64_t>(std::min<std::int64_t>(worth, usable_cores()), 1, 8));
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
