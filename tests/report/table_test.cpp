#include "report/table.h"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

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
}

/// "rule|>pruned|because" with one row of prose.
Table with_prose() {
    Table table("rule|>pruned|because");
    table.add({"cpu.grid", "1,234", "per_row has one row a program: more are packed"});
    return table;
}

TEST(Table, ProseTakesSeveralLinesWhereALineHasNoRoom) {
    EXPECT_EQ(with_prose().text({.width = 45}),
              "rule      pruned  because\n"
              "cpu.grid   1,234  per_row has one row a\n"
              "                  program: more are packed\n");
}

TEST(Table, ARowIsABlockWhereItsWordsDoNotFitBesideEachOther) {
    EXPECT_EQ(with_prose().text({.width = 32}),
              "cpu.grid\n"
              "  pruned 1,234,\n"
              "  because per_row has one row\n"
              "    a program: more are packed\n");
    Table keys("problem|configuration|>us");
    keys.add({"rms_norm/forward/bf16/llama/8192x4096", "w16.t256.r4.row.registers.masked.persistent_strided", "46.5"});
    EXPECT_EQ(keys.text({.width = 30}),
              "rms_norm/forward/bf16/llama/\n"
              "8192x4096\n"
              "  configuration\n"
              "    w16.t256.r4.row.registers.\n"
              "    masked.persistent_strided,\n"
              "  us 46.5\n");
}

TEST(Table, IsSortedByNumbersAndByWordsAndCutBeforeItsSums) {
    Table table("name|>us");
    table.add({"b", "9.5"});
    table.add({"c", "-"});
    table.add({"a", "1,250"});
    table.add({"d", "+10.0%"});
    table.add_sums({"4 in all", "9999"});
    EXPECT_TRUE(table.sort("us", true));
    EXPECT_EQ(table.csv(), "name,us\r\na,\"1,250\"\r\nd,+10.0%\r\nb,9.5\r\nc,-\r\n4 in all,9999\r\n");
    EXPECT_TRUE(table.sort("name", false));
    EXPECT_EQ(table.keep(2), 2u);
    EXPECT_EQ(table.text({}), "name         us\na         1,250\nb           9.5\n4 in all   9999\n");
    EXPECT_EQ(table.keep(2), 0u);
    EXPECT_FALSE(table.sort("ms", false));
}

TEST(Table, AToneIsTheFirstCellsAlone) {
    Table table("verdict|>us");
    table.add({"slower", "1.5"}, Tone::bad);
    EXPECT_EQ(table.text({.color = true}), "\033[1mverdict   us\033[0m\n\033[31mslower\033[0m   1.5\n");
    EXPECT_EQ(table.text({}), "verdict   us\nslower   1.5\n");
}

TEST(Prose, KeepsParagraphsIndentsAndCommands) {
    const std::string long_command = "  repeat: normtune sweep --config " + std::string(60, 'x');
    EXPECT_EQ(prose("one two three four five six\n\n  seven eight nine ten\n" + long_command + "\n", {.width = 20}),
              "one two three four\n  five six\n\n  seven eight nine\n    ten\n" + long_command + "\n");
}

TEST(Wrapped, BreaksBetweenWordsElseAfterPointsElseNot) {
    using Lines = std::vector<std::string>;
    EXPECT_EQ(wrapped("a bb ccc", 4), (Lines{"a bb", "ccc"}));
    EXPECT_EQ(wrapped("aa.bb.cc", 6), (Lines{"aa.bb.", "cc"}));
    EXPECT_EQ(wrapped("abcdefgh.x", 4), (Lines{"abcdefgh.", "x"}));
    EXPECT_EQ(wrapped("abcdefgh", 4), (Lines{"abcdefgh"}));
    EXPECT_EQ(wrapped("", 4), (Lines{""}));
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
