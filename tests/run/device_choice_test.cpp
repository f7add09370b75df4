#include "run/device_choice.h"

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

DeviceWish replay(const testing::TemporaryFolder& folder) {
    DeviceWish wish;
    wish.backend = Backend::replay;
    wish.replay_script = folder.write("script.yaml", "devices: 3\n");
    return wish;
}

TEST(DeviceChoice, TakesTheFirstUnlessOthersAreNamed) {
    const testing::TemporaryFolder folder;
    DeviceWish wish = replay(folder);
    EXPECT_EQ(choose_devices(wish).ordinals, (std::vector<int>{0}));
    wish.ordinals = {2, 1, 2};
    EXPECT_EQ(choose_devices(wish).ordinals, (std::vector<int>{2, 1}));
    wish.ordinals.clear();
    wish.all = true;
    EXPECT_EQ(choose_devices(wish).ordinals, (std::vector<int>{0, 1, 2}));
}

TEST(DeviceChoice, SetsTheSweepsDevices) {
    const testing::TemporaryFolder folder;
    SweepOptions options;
    choose_devices(replay(folder)).set(options);
    EXPECT_EQ(options.backend, Backend::replay);
    EXPECT_FALSE(options.replay_script.empty());
}

TEST(DeviceChoice, WhatDoesNotGoTogetherIsRefused) {
    const testing::TemporaryFolder folder;
    DeviceWish wish = replay(folder);
    wish.ordinals = {3};
    EXPECT_THROW(choose_devices(wish), InputError);  // not there
    wish.ordinals = {1};
    wish.all = true;
    EXPECT_THROW(choose_devices(wish), InputError);
    wish = {};
    wish.backend = Backend::replay;
    EXPECT_THROW(choose_devices(wish), InputError);  // no script
}

}  // namespace
}  // namespace normtune
