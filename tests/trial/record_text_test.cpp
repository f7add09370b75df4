#include "trial/record_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/error.h"
#include "support/json_reader.h"
#include "trial/random_record.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using nlohmann::json;
using testing::RandomRecords;

/// As the reader that tells what is wrong has it; null where it tells.
json told(const std::string& text) {
    try {
        return to_json(from_json<Record>({parse_json(text, "file"), ""}));
    } catch (const InputError&) {
        return nullptr;
    }
}

json quick(const std::string& text) {
    const std::optional<Record> record = read_quickly<Record>(text);
    return record ? to_json(*record) : nullptr;
}

TEST(RecordText, EveryRecordIsReadAsItWasWritten) {
    RandomRecords random(1);
    for (int i = 0; i < 100; ++i) {
        const json written = to_json(random.record());
        EXPECT_EQ(quick(written.dump()), written);
    }
}

void replace_everywhere(json& document, json& place, const std::vector<json>& values, int& taken, int& refused) {
    if (place.is_structured()) {
        for (json& child : place) {
            replace_everywhere(document, child, values, taken, refused);
        }
    }
    const json before = place;
    for (const json& value : values) {
        place = value;
        const std::string text = document.dump();
        const json read = quick(text);
        EXPECT_EQ(read, told(text)) << text;
        ++(read.is_null() ? refused : taken);
    }
    place = before;
}

TEST(RecordText, ItHasTheChecksOfTheOtherReader) {
    RandomRecords random(45);
    Record record = random.record();
    record.measurement = random.measurement();
    json document = to_json(record);
    int taken = 0, refused = 0;
    replace_everywhere(document, document,
                       {json::array(), json::object(), -1, 0, 1, std::numeric_limits<std::uint64_t>::max(), 1e308, true, "", "x", nullptr},
                       taken, refused);
    EXPECT_GT(taken, 50);
    EXPECT_GT(refused, 500);
}

TEST(RecordText, WhatIsDamagedIsNotTakenForSomethingElse) {
    RandomRecords random(46);
    std::mt19937_64 bits(47);
    int taken = 0;
    for (int i = 0; i < 600; ++i) {
        std::string text = to_json(random.record()).dump();
        text[bits() % text.size()] ^= static_cast<char>(1u << (bits() % 8));
        if (const json read = quick(text); !read.is_null()) {
            ++taken;
            EXPECT_EQ(read, told(text)) << text;
        }
    }
    EXPECT_GT(taken, 60);  // most bytes are of names and digits
}

TEST(RecordText, TextsThatReadersUnderstandDifferently) {
    RandomRecords random(48);
    const std::string good = to_json(random.record()).dump();
    const auto with_reason = [&](const std::string& reason) {
        const std::size_t at = good.find("\"reason\":\"") + 10;
        return std::string(good).insert(at, reason);
    };
    ASSERT_NE(quick(with_reason("\\u00e9 \\ud83d\\ude00")), nullptr);
    for (const std::string& text :
         {good + "}", good + " {}", std::string(), "[" + good + "]", with_reason("\\ud83d"), with_reason("\\ude00"),
          with_reason("\\ud83dx"), with_reason("\xC0\xAF"), with_reason("\xED\xA0\x80"), with_reason("\t"), with_reason("\\x"),
          with_reason(std::string(1, '\0')), "{\"arch\":\"sm_90\"," + good.substr(1), "{\"aa\":[{\"b\":1,\"b\":1}]," + good.substr(1),
          "{\"aa\":1e400," + good.substr(1), "{\"aa\":01," + good.substr(1), "{\"aa\":NaN," + good.substr(1),
          "{\"aa\":[1,]," + good.substr(1)}) {
        EXPECT_EQ(quick(text), nullptr) << text;
        EXPECT_EQ(told(text), nullptr) << text;
    }
    // What the other reader alone takes.
    for (const std::string& text : {"{\"zz\":0," + good.substr(1), "{\"aa\":123456789012345678901234567890," + good.substr(1)}) {
        EXPECT_EQ(quick(text), nullptr) << text;
        EXPECT_EQ(told(text), json::parse(good)) << text;
    }
}

}  // namespace
}  // namespace normtune
