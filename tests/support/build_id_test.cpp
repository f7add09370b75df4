#include "support/build_id.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(BuildId, IsADigestOfThisExecutable) {
    const std::string id = build_id();
    EXPECT_GE(id.size(), 16U);  // xxhash or longer
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    EXPECT_EQ(build_id(), id);
}

}  // namespace
}  // namespace normtune
