#include "support/csv_stream.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/trickle.h"

namespace normtune {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records records_of(std::string_view text, std::size_t step = 1 << 20) {
    testing::Trickle source(text, step);
    CsvReader reader(source, "x.csv");
    Records out;
    while (reader.next()) {
        out.emplace_back(reader.fields().begin(), reader.fields().end());
    }
    return out;
}

std::string error_of(std::string_view text) {
    try {
        records_of(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(CsvReader, ReadsFieldsQuotedAndNot) {
    const Records expected{{"a", "b,c", "d \"e\"", ""}, {"1", "two\r\nlines", "", "x"}};
    const std::string text = "a,\"b,c\",\"d \"\"e\"\"\",\r\n1,\"two\r\nlines\",,x\r\n";
    EXPECT_EQ(records_of(text), expected);
}

TEST(CsvReader, LineEndsMayBeMixedAndTheLastMayBeMissing) {
    const Records expected{{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}};
    EXPECT_EQ(records_of("a,b\nc,d\r\ne,f\rg,h"), expected);
    EXPECT_EQ(records_of("\xEF\xBB\xBF"
                         "a,b\n\n\r\nc,d\r\ne,f\rg,h\r"),
              expected);
}

TEST(CsvReader, ReadsTheSameWhateverTheSizeOfTheReads) {
    const std::string text =
        "\xEF\xBB\xBF"
        "a,\"b\"\"\r\n\",c\r\n\r\n1,2,3\r4,\"5\",6\n7,,\"\"";
    const Records whole = records_of(text);
    ASSERT_EQ(whole.size(), 4U);
    for (std::size_t step = 1; step < 9; ++step) {
        EXPECT_EQ(records_of(text, step), whole) << step;
    }
}

TEST(CsvReader, CountsLinesInQuotesToo) {
    MemorySource source("a\n\"x\ny\"\nb\n");
    CsvReader reader(source, "x.csv");
    EXPECT_TRUE(reader.next());
    EXPECT_EQ(reader.line(), 1);
    EXPECT_TRUE(reader.next());
    EXPECT_EQ(reader.line(), 2);
    EXPECT_TRUE(reader.next());
    EXPECT_EQ(reader.line(), 4);
}

TEST(CsvReader, AQuoteInsideAFieldIsText) {
    const Records expected{{"5\" pipe", "b"}};
    EXPECT_EQ(records_of("5\" pipe,b\n"), expected);
}

TEST(CsvReader, RefusesWhatItCannotRead) {
    EXPECT_EQ(error_of("a\n\"b"), "x.csv:2: a quote is opened and never closed");
    EXPECT_EQ(error_of("\"a\"b\n"), "x.csv:1: text follows a closing quote; a comma or the line's end belongs there");
    EXPECT_NE(error_of("\xFF\xFE"
                       "a")
                  .find("UTF-16"),
              std::string::npos);
}

/// 10 GB of one line, as far as anybody reads.
class Endless : public ByteSource {
public:
    std::size_t read(char* into, std::size_t most) override {
        std::memset(into, 'x', most);
        given += most;
        return given > std::uint64_t{10'000'000'000} ? 0 : most;
    }
    std::uint64_t given = 0;
};

TEST(CsvReader, GivesUpOnAnEndlessLineSoon) {
    Endless source;
    CsvReader reader(source, "x.csv");
    try {
        reader.next();
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()), "x.csv:1: the line is longer than 1048576 bytes, the most that is read");
    }
    EXPECT_LT(source.given, 8U << 20U);
}

}  // namespace
}  // namespace normtune
