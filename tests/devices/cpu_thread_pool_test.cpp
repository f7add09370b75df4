#include "devices/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace normtune::cpu {
namespace {

/// More threads than this machine may have processors: they must make progress all the same.
const std::vector<int> four_threads{0, 0, 0, 0};

TEST(ThreadPool, EveryThreadRunsEachRegionOnce) {
    ThreadPool pool(four_threads);
    std::vector<int> runs(4, 0);  // not atomic: regions order the accesses
    pool.lead([&](Team& team) {
        for (int i = 0; i < 300; ++i) {
            auto body = [&](int thread) { ++runs[static_cast<std::size_t>(thread)]; };
            team.fork(body);
            ASSERT_EQ(std::accumulate(runs.begin(), runs.end(), 0), 4 * (i + 1));
        }
    });
    EXPECT_EQ(runs, std::vector<int>(4, 300));
}

TEST(ThreadPool, ABarrierShowsEachThreadWhatTheOthersWrote) {
    ThreadPool pool(four_threads);
    std::vector<int> values(4, 0);
    std::vector<int> sums(4, 0);
    pool.lead([&](Team& team) {
        auto body = [&](int thread) {
            for (int i = 1; i <= 50; ++i) {
                values[static_cast<std::size_t>(thread)] = i * (thread + 1);
                team.barrier();
                sums[static_cast<std::size_t>(thread)] += std::accumulate(values.begin(), values.end(), 0);
                team.barrier();
            }
        };
        team.fork(body);
    });
    EXPECT_EQ(sums, std::vector<int>(4, 10 * 50 * 51 / 2));
}

TEST(ThreadPool, WorkersThatFellAsleepWakeUp) {
    ThreadPool pool(four_threads);
    std::atomic<int> runs{0};
    for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than a worker spins
        pool.lead([&](Team& team) {
            auto body = [&](int) { ++runs; };
            team.fork(body);
        });
    }
    EXPECT_EQ(runs, 12);
}

TEST(ThreadPool, AnExceptionReachesTheCallerAndThePoolGoesOn) {
    ThreadPool pool(four_threads);
    EXPECT_THROW(pool.lead([](Team&) { throw std::runtime_error("from the first thread"); }), std::runtime_error);
    int size = 0;
    pool.lead([&](Team& team) { size = team.size(); });
    EXPECT_EQ(size, 4);
}

TEST(ThreadPool, OneThreadNeedsNoOthers) {
    ThreadPool pool({0});
    int runs = 0;
    pool.lead([&](Team& team) {
        auto body = [&](int) {
            team.barrier();
            ++runs;
        };
        team.fork(body);
    });
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace normtune::cpu
