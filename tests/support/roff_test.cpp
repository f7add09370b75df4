#include "support/roff.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(RoffText, NothingIsARequestOrAnEscape) {
    EXPECT_EQ(roff_text(".TH x\n.so /etc/passwd"), "\\&.TH x\n\\&.so /etc/passwd");
    EXPECT_EQ(roff_text("'sp 3"), "\\(aqsp 3");
    EXPECT_EQ(roff_text("a.b \\fBbold\\fR"), "a.b \\(rsfBbold\\(rsfR");
}

TEST(RoffText, WhatIsCopiedFromAPageIsWhatWasMeant) {
    EXPECT_EQ(roff_text("--out \"a b\""), "\\-\\-out \\(dqa b\\(dq");
    EXPECT_EQ(roff_text("`x^2` ~ 'y'"), "\\(gax\\(ha2\\(ga \\(ti \\(aqy\\(aq");
    EXPECT_EQ(roff_text("8192×4096"), "8192×4096");
}

}  // namespace
}  // namespace normtune
