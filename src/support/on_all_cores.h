// Independent pieces of work on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

#include "support/cores.h"

namespace normtune {

/// Calls work(i) for each i below `count`, in any order and on several threads; throws what one of them threw, once
/// all have ended.
template <typename Work>
void on_all_cores(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            work(i);
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
}

}  // namespace normtune
