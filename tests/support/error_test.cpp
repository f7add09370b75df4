#include "support/error.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(QuotedForMessage, StaysOnOneLineOfText) {
    EXPECT_EQ(quoted_for_message("a\nb\x1b[31m\x7f"), "'a?b?[31m?'");
    EXPECT_EQ(quoted_for_message("ü\xff"), "'ü\xEF\xBF\xBD'");
    EXPECT_EQ(quoted_for_message(""), "''");
}

TEST(QuotedForMessage, CutsLongTextBetweenCharacters) {
    EXPECT_EQ(quoted_for_message(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
    EXPECT_EQ(quoted_for_message(std::string(61, 'x')), "'" + std::string(60, 'x') + "…'");
    EXPECT_EQ(quoted_for_message(std::string(59, 'x') + "üy"), "'" + std::string(59, 'x') + "ü…'");
}

}  // namespace
}  // namespace normtune
