// Counts in sentences.
#include "support/plural.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(Plural, IsOfAllButOne) {
    EXPECT_EQ(counted(0, "trial"), "0 trials");
    EXPECT_EQ(counted(1, "trial"), "1 trial");
    EXPECT_EQ(counted(2, "batch", "batches"), "2 batches");
    EXPECT_EQ(plural(1, "batch", "batches"), "batch");
}

}  // namespace
}  // namespace normtune
