#include "run/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace normtune {
namespace {

WorkGroup group(std::size_t problem, double weight, std::optional<std::size_t> device = std::nullopt) {
    return {{problem}, weight, device};
}

std::size_t first_of(const std::optional<WorkGroup>& taken) {
    return taken.value().problems.front();
}

TEST(WorkQueue, OneDeviceTakesAllInTheirOrder) {
    WorkQueue queue(1, {group(0, 1), group(1, 9), group(2, 5)});
    EXPECT_EQ(queue.peek(0), 0U);
    EXPECT_EQ(first_of(queue.take(0)), 0U);
    EXPECT_EQ(first_of(queue.take(0)), 1U);
    EXPECT_EQ(first_of(queue.take(0)), 2U);
    EXPECT_EQ(queue.peek(0), std::nullopt);
    EXPECT_FALSE(queue.take(0));
}

TEST(WorkQueue, SeveralGetAboutAsMuchAndTheHeaviestFirst) {
    WorkQueue queue(2, {group(0, 1), group(1, 11), group(2, 5), group(3, 4)});
    EXPECT_EQ(queue.take_all(0)->problems, std::vector<std::size_t>{1});
    EXPECT_EQ(queue.take_all(1)->problems, (std::vector<std::size_t>{2, 3, 0}));
}

TEST(WorkQueue, WhoHasNothingLeftStealsTheLightestOfTheFullest) {
    WorkQueue queue(2, {group(0, 10), group(1, 5), group(2, 4), group(3, 1)});
    EXPECT_EQ(first_of(queue.take(0)), 0U);
    EXPECT_EQ(first_of(queue.take(0)), 3U);
    EXPECT_EQ(first_of(queue.take(0)), 2U);
    EXPECT_EQ(first_of(queue.take(1)), 1U);
}

TEST(WorkQueue, WhatADeviceHasBegunIsItsOwn) {
    WorkQueue queue(2, {group(0, 1), group(1, 9, 1), group(2, 1, 1)});
    EXPECT_EQ(first_of(queue.take(0)), 0U);
    EXPECT_EQ(first_of(queue.take(1)), 1U);
    EXPECT_EQ(first_of(queue.take(1)), 2U);
    EXPECT_FALSE(queue.lose(1, {}) && queue.lose(0, {}));
}

TEST(WorkQueue, WhatALostDeviceLeavesGoesToTheOthers) {
    WorkQueue queue(3, {group(0, 3), group(1, 2, 1), group(2, 1, 1)});
    EXPECT_EQ(first_of(queue.take(1)), 1U);
    EXPECT_TRUE(queue.lose(1, group(1, 1)));
    std::set<std::size_t> left;
    for (const std::size_t device : {0U, 2U, 0U}) {
        left.insert(first_of(queue.take(device)));
    }
    EXPECT_EQ(left, (std::set<std::size_t>{0, 1, 2}));
    EXPECT_TRUE(queue.lose(0, group(0, 1)));
    EXPECT_FALSE(queue.lose(2, group(0, 1)));
}

TEST(WorkQueue, AnIdleDeviceWaitsForWhatALostOneGivesBack) {
    WorkQueue queue(2, {group(7, 1)});
    ASSERT_EQ(first_of(queue.take(0)), 7U);
    std::optional<WorkGroup> got;
    std::thread idle([&] { got = queue.take(1); });
    EXPECT_TRUE(queue.lose(0, group(7, 1)));
    idle.join();
    EXPECT_EQ(first_of(got), 7U);
}

TEST(WorkQueue, AStopEndsTheWaiting) {
    WorkQueue queue(2, {group(0, 1)});
    ASSERT_TRUE(queue.take(0));
    std::thread idle([&] { EXPECT_FALSE(queue.take(1)); });
    queue.stop();
    idle.join();
}

TEST(WorkQueue, ManyDevicesTakeEachGroupOnce) {
    constexpr std::size_t count = 2000;
    std::vector<WorkGroup> groups;
    for (std::size_t i = 0; i < count; ++i) {
        groups.push_back(group(i, static_cast<double>(i % 7)));
    }
    WorkQueue queue(8, std::move(groups));
    std::vector<std::atomic<int>> taken(count);
    std::vector<std::thread> devices;
    for (std::size_t device = 0; device < 8; ++device) {
        devices.emplace_back([&, device] {
            int mine = 0;
            while (const auto got = queue.take(device)) {
                ++taken[got->problems.front()];
                if (device == 3 && ++mine == 20) {
                    --taken[got->problems.front()];
                    queue.lose(device, *got);
                    return;
                }
            }
        });
    }
    for (std::thread& device : devices) {
        device.join();
    }
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(taken[i], 1) << i;
    }
}

}  // namespace
}  // namespace normtune
