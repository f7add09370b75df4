#include "devices/gpu/gpu_buffers.h"

#include <gtest/gtest.h>

namespace normtune::gpu {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t ample = 80'000 * mib;

TEST(RotatingSets, TogetherTakeTheRotation) {
    EXPECT_EQ(rotating_sets(200 * mib, 48 * mib, ample), 5);
    EXPECT_EQ(rotating_sets(200 * mib, 50 * mib, ample), 4);
    EXPECT_EQ(rotating_sets(200 * mib, 1 * mib, ample), 200);
}

TEST(RotatingSets, AreTwoAtTheLeast) {
    EXPECT_EQ(rotating_sets(200 * mib, 199 * mib, ample), 2);
    EXPECT_EQ(rotating_sets(200 * mib, 200 * mib, ample), 2);
    EXPECT_EQ(rotating_sets(200 * mib, 2000 * mib, ample), 2);
}

TEST(RotatingSets, AreOneWhereNothingRotates) {
    EXPECT_EQ(rotating_sets(0, 1 * mib, ample), 1);
}

TEST(RotatingSets, FitIntoTheRoomButForTheFirst) {
    EXPECT_EQ(rotating_sets(200 * mib, 50 * mib, 160 * mib), 3);
    EXPECT_EQ(rotating_sets(200 * mib, 2000 * mib, 3000 * mib), 1);
    EXPECT_EQ(rotating_sets(200 * mib, 2000 * mib, 1000 * mib), 1);
}

}  // namespace
}  // namespace normtune::gpu
