#include "measure/rotation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace normtune {
namespace {

TEST(Rotation, TakesAsManyTimesTheCacheAsTheDeviceHasRoomFor) {
    constexpr std::int64_t mib = 1 << 20;
    DeviceInfo device;
    device.cache_bytes = 50 * mib;
    device.memory_bytes = 80 * 1024 * mib;
    for (const Backend backend : {Backend::cuda, Backend::hip}) {
        device.backend = backend;
        device.memory_bytes = 80 * 1024 * mib;
        EXPECT_EQ(cold_rotation_bytes(device, 0), 1600 * mib);
        device.memory_bytes = 8 * 1024 * mib;
        EXPECT_EQ(cold_rotation_bytes(device, 0), 1024 * mib) << "an eighth of the memory";
        device.memory_bytes = 1024 * mib;
        EXPECT_EQ(cold_rotation_bytes(device, 0), 200 * mib) << "four times the L2 at the least";
        EXPECT_EQ(cold_rotation_bytes(device, 7), 350 * mib) << "as it is told to";
    }
    device.backend = Backend::cpu;
    EXPECT_EQ(cold_rotation_bytes(device, 0), 200 * mib);
    EXPECT_EQ(cold_rotation_bytes(device, 2), 100 * mib);
}

TEST(ColdRotation, IsMarkedWhereItIsNotTheDevicesOwn) {
    constexpr std::int64_t mib = 1 << 20;
    DeviceInfo device;
    device.backend = Backend::cuda;
    device.cache_bytes = 50 * mib;
    device.memory_bytes = 80 * 1024 * mib;
    EXPECT_EQ(rotation_mark(device, 0), "");
    EXPECT_EQ(rotation_mark(device, 32), "") << "asked for by its number";
    EXPECT_EQ(rotation_mark(device, 4), "/rotation4");
}

TEST(Windows, UseEverySetEquallyWhateverSetsLaunchesAndSamples) {
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i) {
        const int sets = 1 + static_cast<int>(random() % 512);
        const int launches = 1 + static_cast<int>(random() % 256);
        const auto samples = static_cast<std::int64_t>(1 + random() % 200);
        const Windows windows(sets, launches);
        std::vector<int> uses(static_cast<std::size_t>(sets));
        int next = 0;
        for (std::int64_t sample = 0; sample < samples; ++sample) {
            const Window window = windows[sample];
            ASSERT_EQ(window.first, next) << "a sample goes on where the last one ended";
            ASSERT_LE(window.launches, windows.most_launches());
            ASSERT_GE(window.launches, windows.most_launches() - 1);
            for (int launch = 0; launch < window.launches; ++launch) {
                ++uses[static_cast<std::size_t>((window.first + launch) % sets)];
            }
            next = (window.first + window.launches) % sets;
        }
        const auto [least, most] = std::minmax_element(uses.begin(), uses.end());
        ASSERT_LE(*most - *least, 1) << sets << " sets, " << launches << " launches, " << samples << " samples";
        ASSERT_EQ(windows.touched(samples), std::count_if(uses.begin(), uses.end(), [](int n) { return n > 0; }));
        if (samples % windows.count() == 0) {
            ASSERT_EQ(*most, *least) << "whole turns";
        }
    }
}

// Graphs are made for each window: few, and of no more launches than a queue holds.
TEST(Windows, AreAsFewAsTheLaunchesAllow) {
    EXPECT_EQ(Windows(13, 57).count(), 1);
    EXPECT_EQ(Windows(13, 57)[0], (Window{0, 65}));
    EXPECT_EQ(Windows(512, 200).count(), 3);
    EXPECT_EQ(Windows(512, 200)[2], (Window{341, 171}));
    EXPECT_EQ(Windows(300, 256).count(), 2);
    EXPECT_EQ(Windows(300, 256).most_launches(), 150);
    EXPECT_EQ(Windows(1, 7)[5], (Window{0, 7}));
    EXPECT_EQ(Windows(13, 57).least_between(), 13) << "whole turns";
    EXPECT_EQ(Windows(512, 200).least_between(), 170);
}

TEST(LaunchesPerSample, DoNotFollowTheNoiseOfAFirstLaunch) {
    std::mt19937 random(6);
    std::uniform_real_distribution<double> noise(0.7, 2.0);
    for (const double expected_us : {2.0, 7.5, 40.0, 900.0}) {
        const int launches = launches_per_sample(400, expected_us, expected_us, 256);
        for (int i = 0; i < 1000; ++i) {
            ASSERT_EQ(launches_per_sample(400, expected_us, 1.3 * expected_us * noise(random), 256), launches) << expected_us;
        }
    }
}

TEST(LaunchesPerSample, MakeTheSampleLongEnoughAndNotMuchLonger) {
    EXPECT_EQ(launches_per_sample(400, 2, 2, 256), 200);
    EXPECT_EQ(launches_per_sample(400, 1, 0.8, 256), 256);
    EXPECT_EQ(launches_per_sample(400, 1000, 900, 256), 1);
    for (double measured_us = 3; measured_us < 1e4; measured_us *= 1.1) {
        const double sample_us = measured_us * launches_per_sample(400, 3, measured_us, 256);
        EXPECT_GE(sample_us, 400);
        EXPECT_LE(sample_us, std::max(4 * 400 + 4 * measured_us, 12e3)) << measured_us;
    }
}

}  // namespace
}  // namespace normtune
