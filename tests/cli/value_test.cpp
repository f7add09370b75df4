#include "cli/value.h"

#include <limits>

#include <gtest/gtest.h>

namespace normtune::cli {
namespace {

template <typename Parse>
std::string complaint(const Parse& parse) {
    try {
        parse();
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(Value, WholeNumbersKeepTheirRange) {
    EXPECT_EQ(parse_whole_number("1", 1, 8), 1);
    EXPECT_EQ(parse_whole_number("8", 1, 8), 8);
    for (const char* word : {"0", "9", "-1", "99999999999999999999"}) {
        EXPECT_NE(complaint([&] { parse_whole_number(word, 1, 8); }).find("is out of range; give one from 1 to 8"), std::string::npos)
            << word;
    }
    for (const char* word : {"", "x", "1x", "1.0", "1e3", " 1", "+1", "0x1"}) {
        EXPECT_NE(complaint([&] { parse_whole_number(word, 1, 8); }).find("is not a whole number"), std::string::npos) << word;
    }
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(parse_whole_number("9223372036854775807", 0, most), most);
}

TEST(Value, DurationsHaveAUnit) {
    EXPECT_DOUBLE_EQ(parse_duration("500ms", 0, 1e9), 0.5);
    EXPECT_DOUBLE_EQ(parse_duration("90s", 0, 1e9), 90);
    EXPECT_DOUBLE_EQ(parse_duration("1.5m", 0, 1e9), 90);
    EXPECT_DOUBLE_EQ(parse_duration("2h", 0, 1e9), 7200);
    for (const char* word : {"", "90", "s", "1 s", "1e3s", "infs", "nans", "5d", "--5s"}) {
        EXPECT_NE(complaint([&] { parse_duration(word, 0, 1e9); }).find("is not a duration"), std::string::npos) << word;
    }
    EXPECT_EQ(complaint([] { parse_duration("2h", 1, 3600); }), "'2h' is out of range; give one from 1s to 1h");
    EXPECT_NE(complaint([] { parse_duration("-1s", 0, 60); }).find("out of range"), std::string::npos);
}

TEST(Value, NumbersRefuseWhatIsNoNumber) {
    EXPECT_DOUBLE_EQ(parse_number("1e-6", 1e-30, 1), 1e-6);
    for (const char* word : {"", "0", "nan", "inf", "-1", "1e-6x", "2"}) {
        EXPECT_FALSE(complaint([&] { parse_number(word, 1e-30, 1); }).empty()) << word;
    }
}

TEST(Value, WordsAreKnownOrTheNearestIsNamed) {
    EXPECT_EQ(parse_word("json", {"table", "json"}), "json");
    EXPECT_EQ(complaint([] { parse_word("jsn", {"table", "json"}); }), "unknown 'jsn'; did you mean 'json'?");
}

TEST(Value, AVectorKeepsEachValueOnce) {
    std::vector<std::int64_t> target;
    const Value value = whole_number(1, 9, target);
    for (const char* word : {"3", "1", "3"}) {
        value.take(word);
    }
    EXPECT_EQ(target, (std::vector<std::int64_t>{3, 1}));
}

TEST(Value, AnOptionalTellsWhetherItWasGiven) {
    std::optional<double> target;
    const Value value = duration(0, 100, target);
    EXPECT_FALSE(target);
    value.take("0s");
    EXPECT_EQ(target, 0.0);
}

}  // namespace
}  // namespace normtune::cli
