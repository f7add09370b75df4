#include "support/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace normtune {
namespace {

TEST(Cores, QuotaOfAControlGroup) {
    EXPECT_EQ(quota_processors("max 100000"), 0);
    EXPECT_EQ(quota_processors("400000 100000"), 4);
    EXPECT_EQ(quota_processors("150000 100000"), 1);
    EXPECT_EQ(quota_processors("50000 100000"), 1);  // less than one processor is still one thread
    EXPECT_EQ(quota_processors(""), 0);
    EXPECT_EQ(quota_processors("100000 0"), 0);
}

TEST(Cores, OfThisProcessAndNotOfTheMachine) {
    const std::vector<int> allowed = allowed_processors();
    ASSERT_FALSE(allowed.empty());
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(allowed.back()), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
        EXPECT_EQ(allowed_processors(), std::vector<int>{allowed.back()});
    }).join();
    EXPECT_EQ(allowed_processors(), allowed);
}

TEST(Cores, AShareIsNeverBelowOne) {
    const int all = usable_cores();
    EXPECT_GE(all, 1);
    limit_cores(1);
    EXPECT_EQ(usable_cores(), 1);
    limit_cores(1 << 20);
    EXPECT_EQ(usable_cores(), all);
    limit_cores(0);
    EXPECT_EQ(usable_cores(), all);
}

}  // namespace
}  // namespace normtune
