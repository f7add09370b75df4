#include "support/cores.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>

namespace normtune {

namespace {

std::atomic<int> most_cores{0};

}  // namespace

std::vector<int> allowed_processors() {
    std::vector<int> processors;
    // Large machines need more than the 1024 processors of a cpu_set_t.
    for (int most = 1024; most <= 1 << 16 && processors.empty(); most *= 2) {
        cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(most));
        const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
        if (sched_getaffinity(0, size, set) == 0) {
            for (int i = 0; i < most; ++i) {
                if (CPU_ISSET_S(static_cast<std::size_t>(i), size, set)) {
                    processors.push_back(i);
                }
            }
        }
        CPU_FREE(set);
    }
    if (processors.empty()) {
        processors.push_back(0);
    }
    return processors;
}

int quota_processors(const std::string& cpu_max) {
    std::istringstream words(cpu_max);
    double quota = 0;
    double period = 0;
    if (!(words >> quota >> period) || quota <= 0 || period <= 0) {
        return 0;
    }
    return std::max(1, static_cast<int>(std::min(quota / period, 1e6)));
}

int quota_processors() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string line;
    std::getline(file, line);
    return quota_processors(line);
}

int usable_cores() {
    static const int of_machine = [] {
        const auto allowed = static_cast<int>(allowed_processors().size());
        const int quota = quota_processors();
        return quota > 0 ? std::min(allowed, quota) : allowed;
    }();
    const int most = most_cores.load(std::memory_order_relaxed);
    return most > 0 ? std::min(of_machine, most) : of_machine;
}

void limit_cores(int most) {
    most_cores.store(most, std::memory_order_relaxed);
}

}  // namespace normtune
