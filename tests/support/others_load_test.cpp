#include "support/others_load.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

constexpr const char* stat =
    "cpu  999 9 99 999 9 9 9 9 0 0\n"
    "cpu0 100 10 20 800 50 5 6 7 90 0\n"
    "cpu1 200 0 0 700 0 0 0 0 0 0\n"
    "cpu10 1 1 1 1 1 1 1 1 1 1\n"
    "intr 12345 0 1\n";

TEST(OthersLoad, TicksAreThoseOfTheProcessorsThatAreAskedFor) {
    const auto first = ticks_of(stat, {0});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->busy, 148U) << "neither idle nor waiting, and a guest's not twice";
    EXPECT_EQ(first->all, 998U);
    const auto two = ticks_of(stat, {0, 1});
    ASSERT_TRUE(two);
    EXPECT_EQ(two->busy, 348U);
    EXPECT_EQ(two->all, 1898U);
}

TEST(OthersLoad, NothingIsToldOfWhatIsNotThere) {
    EXPECT_FALSE(ticks_of(stat, {0, 2})) << "processor 2 has no line";
    EXPECT_FALSE(ticks_of("", {0}));
    EXPECT_FALSE(ticks_of("cpu0 1 2\n", {0}));
    EXPECT_FALSE(ticks_of(stat, {}));
    EXPECT_TRUE(ticks_of("cpu0 1 2 3 4\n", {0})) << "older systems have four numbers";
}

TEST(OthersLoad, IsWhatIsBusyBesideThisProcess) {
    const ProcessorTicks begin{1000, 10000};
    const ProcessorTicks end{1500, 10800};  // two processors, four seconds: five of their eight busy
    EXPECT_DOUBLE_EQ(busy_with_others(begin, end, 0, 2, 100), 1.25);
    EXPECT_DOUBLE_EQ(busy_with_others(begin, end, 3, 2, 100), 0.5);
    EXPECT_DOUBLE_EQ(busy_with_others(begin, end, 5.5, 2, 100), 0) << "ticks are coarser than own seconds";
    EXPECT_DOUBLE_EQ(busy_with_others(begin, {1100, 10100}, 0, 2, 100), 0) << "half a second is too short to tell";
    EXPECT_DOUBLE_EQ(busy_with_others(end, begin, 0, 2, 100), 0);
}

}  // namespace
}  // namespace normtune
