#include "support/parallel.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(OnAllCores, DoesEachPieceOnce) {
    std::vector<int> done(1000, 0);
    on_all_cores(done.size(), [&](std::size_t i) { ++done[i]; });
    EXPECT_EQ(done, std::vector<int>(1000, 1));
    on_all_cores(0, [](std::size_t) { FAIL(); });
}

TEST(OnAllCores, TellsTheFirstFailureInOrder) {
    for (int run = 0; run < 20; ++run) {
        try {
            on_all_cores(64, [](std::size_t i) {
                if (i >= 7) {
                    throw std::runtime_error(std::to_string(i));
                }
            });
            FAIL();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "7");
        }
    }
}

}  // namespace
}  // namespace normtune
