#include "report/page/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace normtune {
namespace {

std::vector<std::string> labels(const Scale& scale) {
    std::vector<std::string> out;
    for (const Tick& tick : scale.ticks()) {
        out.push_back(tick.label);
    }
    return out;
}

TEST(Scale, LinearEndsAreWholeTicks) {
    const Scale scale = Scale::linear(0.97, 1.43);
    EXPECT_EQ(labels(scale), (std::vector<std::string>{"0.9", "1", "1.1", "1.2", "1.3", "1.4", "1.5"}));
    EXPECT_DOUBLE_EQ(scale.at(0.9), 0);
    EXPECT_NEAR(scale.at(1.2), 0.5, 1e-12);
    EXPECT_EQ(scale.at(99), 1);
}

TEST(Scale, OneValueHasRoom) {
    const Scale scale = Scale::linear(5, 5);
    EXPECT_NEAR(scale.at(5), 0.5, 1e-9);
    EXPECT_LT(scale.at(5), scale.at(5.05));
    EXPECT_FALSE(scale.ticks().empty());
}

TEST(Scale, ValuesThatLabelsDoNotTellApartHaveRoom) {
    for (const double low : {1e-300, 1e-3, 1.0, 900.1, 1e15}) {
        for (const double high : {std::nextafter(low, 2 * low), low * (1 + 1e-12), low * (1 + 1e-7)}) {
            const Scale scale = Scale::linear(low, high);
            const std::vector<std::string> all = labels(scale);
            EXPECT_GE(all.size(), 3U) << low;
            EXPECT_LE(all.size(), 8U) << low;
            EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << low;
            EXPECT_NEAR(scale.at(low), 0.5, 0.2) << low;
            EXPECT_LE(scale.at(low), scale.at(high)) << low;
        }
    }
    const std::vector<std::string> all = labels(Scale::linear(999.9, 999.9 * (1 + 6e-5)));
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << all.front();
}

TEST(Scale, LogHasEqualRoomForEqualRatios) {
    const Scale scale = Scale::log(1, 100);
    EXPECT_NEAR(scale.at(10), 0.5, 1e-12);
    EXPECT_NEAR(scale.at(20) - scale.at(10), scale.at(2) - scale.at(1), 1e-12);
    EXPECT_EQ(scale.at(0), 0);
    EXPECT_EQ(labels(scale), (std::vector<std::string>{"1", "2", "5", "10", "20", "50", "100"}));
}

TEST(Scale, ManyDecadesHaveFewTicks) {
    const Scale scale = Scale::log(1e-6, 1e9);
    EXPECT_LE(scale.ticks().size(), 8U);
    EXPECT_GE(scale.ticks().size(), 3U);
    EXPECT_EQ(labels(Scale::log(1, 524288, {1, 128, 8192})), (std::vector<std::string>{"1", "128", "8192"}));
}

TEST(Scale, OfLossesBeginsAtNothing) {
    const Scale scale = Scale::loss(2.5);
    EXPECT_EQ(scale.at(0), 0);
    EXPECT_EQ(labels(scale), (std::vector<std::string>{"0", "1%", "10%", "100%"}));
    EXPECT_GT(scale.at(0.01), 0.1);
    EXPECT_NEAR(scale.at(1) - scale.at(0.1), scale.at(0.9) - scale.at(0.09), 0.01);
    EXPECT_EQ(labels(Scale::loss(0)).front(), "0");
}

TEST(Scale, OfChangesHasNoChangeOnIt) {
    for (const auto& [low, high] : {std::pair{1.02, 1.2}, std::pair{0.5, 0.9}, std::pair{0.99, 1.01}}) {
        const Scale scale = Scale::change(low, high);
        const std::vector<std::string> all = labels(scale);
        EXPECT_NE(std::find(all.begin(), all.end(), "0"), all.end()) << low;
        EXPECT_LT(scale.at(low), scale.at(high));
    }
    EXPECT_EQ(labels(Scale::change(1, 100)).front(), "×1");
}

}  // namespace
}  // namespace normtune
