#include "support/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace normtune {
namespace {

TEST(Clock, WritesUtc) {
    EXPECT_EQ(utc_timestamp(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(utc_timestamp(951782399), "2000-02-28T23:59:59Z");
    EXPECT_EQ(utc_timestamp(1795219199), "2026-11-20T23:59:59Z");
}

TEST(Clock, ADayAheadIsTheLatestThatATimeMayBe) {
    EXPECT_GT(latest_timestamp(), utc_timestamp(std::time(nullptr) + 23 * 3600));
    EXPECT_LT(latest_timestamp(), utc_timestamp(std::time(nullptr) + 25 * 3600));
}

TEST(Clock, DoesNotDependOnTheTimeZone) {
    const char* old = std::getenv("TZ");
    const std::string before = old == nullptr ? "" : old;
    ::setenv("TZ", "Asia/Tokyo", 1);
    ::tzset();
    EXPECT_EQ(utc_timestamp(0), "1970-01-01T00:00:00Z");
    old == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
    ::tzset();
}

}  // namespace
}  // namespace normtune
