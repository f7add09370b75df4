#include "support/utf8.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(Utf8, AcceptsEveryLength) {
    for (const char* text : {"", "plain", "é", "€", "𝛾", "\x7f", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xE0\xA0\x80"}) {
        EXPECT_TRUE(is_utf8(text)) << text;
        EXPECT_EQ(to_utf8(text), text);
    }
}

TEST(Utf8, ReplacesWhatIsMalformed) {
    const std::string r = "\xEF\xBF\xBD";
    EXPECT_EQ(to_utf8("a\x80z"), "a" + r + "z");  // continuation alone
    EXPECT_EQ(to_utf8("\xC3"), r);                // cut short
    EXPECT_EQ(to_utf8("\xC3("
                      "\xE2\x82"),
              r + "(" + r + r);                             // cut short in the middle and at the end
    EXPECT_EQ(to_utf8("\xC0\xAF"), r + r);                  // overlong '/'
    EXPECT_EQ(to_utf8("\xE0\x9F\xBF"), r + r + r);          // overlong, three bytes
    EXPECT_EQ(to_utf8("\xED\xA0\x80"), r + r + r);          // surrogate
    EXPECT_EQ(to_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
    EXPECT_EQ(to_utf8("\xFF\xFE"), r + r);
}

TEST(Utf8, AnyBytesBecomeUtf8) {
    std::string all;
    for (int i = 0; i < 256; ++i) {
        for (int j = 0; j < 256; ++j) {
            all += static_cast<char>(i);
            all += static_cast<char>(j);
        }
    }
    EXPECT_FALSE(is_utf8(all));
    EXPECT_TRUE(is_utf8(to_utf8(all)));
}

}  // namespace
}  // namespace normtune
