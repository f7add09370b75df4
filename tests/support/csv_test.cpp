#include "support/csv.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

#include "support/csv_stream.h"

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

TEST(Csv, NoFieldIsAFormulaOfASpreadsheet) {
    for (const std::string text : {"=cmd|' /C calc'!A0", "@SUM(1)", "+cmd|x", "-2+3+cmd|x", "\t=1", "'=1", "''@x"}) {
        const std::string line = csv_line({text, "b"});
        EXPECT_TRUE(line.starts_with("'") || line.starts_with("\"'")) << line;
        MemorySource source(line);
        CsvReader reader(source, "test.csv");
        ASSERT_TRUE(reader.next());
        EXPECT_EQ(reader.fields()[0], text);
    }
    for (const std::string text : {"-0.7%", "+3.1e5", "-", "a=b", "'quoted'", "w4.t128=x"}) {
        EXPECT_EQ(csv_field(text), text);
    }
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
