#include "devices/cpu/host_info.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace normtune::cpu {
namespace {

TEST(HostInfo, CacheSizesAsSysfsWritesThem) {
    EXPECT_EQ(parse_cache_size("48K"), 48 << 10);
    EXPECT_EQ(parse_cache_size("2M"), 2 << 20);
    EXPECT_EQ(parse_cache_size("1G"), std::int64_t{1} << 30);
    EXPECT_EQ(parse_cache_size("4096"), 4096);
    for (const char* none : {"", "K", "-1K", "max", "99999999999999999999K"}) {
        EXPECT_EQ(parse_cache_size(none), 0) << none;
    }
}

TEST(HostInfo, ThisMachineHasWhatADeviceNeeds) {
    const HostInfo host = read_host_info();
    EXPECT_FALSE(host.name.empty());
    ASSERT_FALSE(host.cpus.empty());
    EXPECT_TRUE(std::is_sorted(host.cpus.begin(), host.cpus.end()));
    EXPECT_GE(host.l1_data_bytes, 4 << 10);
    EXPECT_GE(host.last_level_bytes, host.l1_data_bytes);
    EXPECT_GT(host.memory_bytes, 0);
    EXPECT_LE(available_memory_bytes(), host.memory_bytes);
}

}  // namespace
}  // namespace normtune::cpu
