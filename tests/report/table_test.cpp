#include "report/table.h"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoTrailingSpace) {
    Table table("name|>us|note");
    table.add({"a", "1.5", ""});
    table.add({"longer", "12.25", "é"});
    EXPECT_EQ(table.text({}),
              "name       us  note\n"
              "a         1.5\n"
              "longer  12.25  é\n");
    EXPECT_EQ(table.width(), 19u);
}

TEST(Table, MarkdownKeepsTheAlignment) {
    Table table("name|>value");
    table.add({"a", "1"});
    EXPECT_EQ(table.markdown(), "| name | value |\n|---|--:|\n| a | 1 |\n");
}

TEST(Table, EmphasisIsAnsiOnlyWithColour) {
    Table table("name");
    EXPECT_EQ(table.text({.color = true}), "\033[1mname\033[0m\n");
    EXPECT_EQ(table.text({.color = false}), "name\n");
}

TEST(Table, RefusesARowOfAnotherLength) {
    Table table("a|b");
    EXPECT_THROW(table.add({"1"}), std::logic_error);
}

TEST(Table, CountsCharactersNotBytes) {
    EXPECT_EQ(display_width("µs…"), 3u);
}

TEST(Numbers, KeepThreeDigits) {
    EXPECT_EQ(three_digits(0.7342), "0.734");
    EXPECT_EQ(three_digits(0.99951), "1.00");
    EXPECT_EQ(three_digits(9.994), "9.99");
    EXPECT_EQ(three_digits(9.996), "10.0");
    EXPECT_EQ(three_digits(46.94), "46.9");
    EXPECT_EQ(three_digits(99.96), "100");
    EXPECT_EQ(three_digits(1250.4), "1250");
    EXPECT_EQ(three_digits(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Numbers, GroupByThousands) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(12345678), "12,345,678");
}

TEST(Numbers, BytesTakeTheLargestUnit) {
    EXPECT_EQ(byte_text(0), "0 B");
    EXPECT_EQ(byte_text(32 * 1024), "32 KiB");
    EXPECT_EQ(byte_text(1536 * 1024), "1.5 MiB");
    EXPECT_EQ(byte_text(std::int64_t{64} << 30), "64 GiB");
}

TEST(Numbers, TimesReadAsPeopleSayThem) {
    EXPECT_EQ(time_text(0.2), "0 s");
    EXPECT_EQ(time_text(59.6), "1 min 0 s");
    EXPECT_EQ(time_text(200), "3 min 20 s");
    EXPECT_EQ(time_text(7500), "2 h 5 min");
    EXPECT_EQ(time_text(-1), "0 s");
}

}  // namespace
}  // namespace normtune
