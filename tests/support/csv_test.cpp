#include "support/csv.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

namespace normtune {
namespace {

TEST(Csv, QuotesOnlyWhatNeedsIt) {
    EXPECT_EQ(csv_field("plain; text"), "plain; text");
    EXPECT_EQ(csv_field(""), "");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("say \"go\""), "\"say \"\"go\"\"\"");
    EXPECT_EQ(csv_field("two\r\nlines"), "\"two\r\nlines\"");
    EXPECT_EQ(csv_field(" blank"), "\" blank\"");
    EXPECT_EQ(csv_field(std::string_view("a\0b\xff", 4)),
              "a\xEF\xBF\xBD"
              "b\xEF\xBF\xBD");
}

TEST(Csv, LinesEndInCrlf) {
    EXPECT_EQ(csv_line({"a", "", "b,c"}), "a,,\"b,c\"\r\n");
}

TEST(Csv, NumbersHaveAPointInEveryLocale) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    std::setlocale(LC_ALL, "de_DE.UTF-8");  // has no effect where it is not installed
    EXPECT_EQ(csv_number(1234567.125, 4), "1234567.1250");
    std::setlocale(LC_ALL, before.c_str());
    EXPECT_EQ(csv_number(std::numeric_limits<double>::quiet_NaN(), 4), "");
    EXPECT_EQ(csv_number(-std::numeric_limits<double>::infinity(), 4), "");
}

}  // namespace
}  // namespace normtune
