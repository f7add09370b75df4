#include "support/json_stream.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json_reader.h"
#include "support/trickle.h"

namespace normtune {
namespace {

using nlohmann::json;

/// The document with what was given away put back, or the error.
std::string streamed(std::string_view text, std::size_t step = 1000) {
    testing::Trickle source(text, step);
    json elements = json::array();
    const auto take = [&](std::span<const ListElement> given) {
        for (std::size_t i = 0; i < given.size(); ++i) {
            EXPECT_EQ(given[i].index, elements.size());
            try {
                elements.push_back(parse_element(given[i], "file", "list"));
            } catch (const InputError&) {
                if (given[i].guessed) {
                    return i;
                }
                throw;
            }
        }
        return given.size();
    };
    try {
        json document = parse_json(source, "file", std::array{StreamedList{"list", take}});
        if (!elements.empty()) {
            EXPECT_TRUE(document.at("list").empty());
            document["list"] = elements;
        }
        return document.dump();
    } catch (const InputError& error) {
        return error.what();
    }
}

std::string whole(std::string_view text) {
    try {
        return parse_json(text, "file").dump();
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(JsonStream, ComesToWhatTheWholeDocumentIs) {
    for (const std::string_view text : {
             R"({"a": 1, "list": [{"b": [1, {"c": "]"}]}, 2, "x,\"]y", [], {}], "d": {"list": [3]}})",
             R"({"list": []})",
             "{\"list\" : [\n\n1\n,\n2 ]\n}\n",
             R"({"a": "list", "b": [1, 2], "list": {"no": "list"}})",
             R"({"a": ["list", [1]], "list": 5})",
             R"([{"list": [1]}])",
             R"("list")",
             R"({"li\"st": [1], "list": [2]})",
         }) {
        for (const std::size_t step : {1U, 2U, 3U, 1000U}) {
            EXPECT_EQ(streamed(text, step), whole(text));
        }
    }
}

TEST(JsonStream, AnElementMayBeLongerThanAPiece) {
    const std::string text = R"({"list": [")" + std::string(100000, 'x') + R"(", 1]})";
    EXPECT_EQ(streamed(text, 4096), json::parse(text).dump());
}

TEST(JsonStream, ErrorsSayTheSamePlaceAsOfTheWholeDocument) {
    for (const std::string_view text : {
             "{\"list\": [\n1,\n2,\n]}",
             "{\"list\": [,]}",
             "{\"list\": [1,\n x, 2]}",
             "{\"list\": [{\"a\":\n\n tru}, 2]}",
             "{\"list\": [1,\n2],\n \"b\" 5}",
             "{\"list\": [1, 2], \"b\": nul}",
             "{\"a\": ?,\n\"list\": [1]}",
             "{\"list\": [{\"a\": 1, \"a\": 2}]}",
             "{\"list\": [1, {\"a\": [{\"b\": 1, \"b\": 2}]}]}",
         }) {
        for (const std::size_t step : {1U, 1000U}) {
            const auto place = [](const std::string& error) { return error.substr(0, error.find("; last read")); };
            EXPECT_EQ(place(streamed(text, step)), place(whole(text)));
        }
    }
}

TEST(JsonStream, WhatIsCutAnywhereIsNoDocument) {
    const std::string text = "{\"a\": \"b\", \"list\": [\n{\"c\": [1, \"d\\\"\"]},\n{\"e\": null}\n],\n\"f\": 1}";
    for (std::size_t length = 0; length < text.size(); ++length) {
        const std::string error = streamed(std::string_view(text).substr(0, length));
        EXPECT_EQ(error.find("file: is not JSON: parse error at line "), 0U) << length << ": " << error;
    }
    for (const std::string_view wrong : {R"({"list": [1}, 2]})", R"({"list": [{]}, 2]})", R"({"list": [1 2]})", R"({"list": [1]]})"}) {
        EXPECT_EQ(streamed(wrong).find("file: is not JSON: parse error at line 1"), 0U) << streamed(wrong);
    }
}

/// A beginning, and then one text for ever.
class WithoutEnd : public ByteSource {
public:
    WithoutEnd(std::string begin, std::string again) : text_(std::move(begin)), again_(std::move(again)) {}
    std::size_t read(char* into, std::size_t most) override {
        if (text_.empty()) {
            text_ = again_;
        }
        const std::size_t got = text_.copy(into, most);
        text_.erase(0, got);
        return got;
    }

private:
    std::string text_, again_;
};

constexpr std::size_t most_bytes = 1 << 18;

std::string error_of(const std::string& begin, const std::string& again) {
    WithoutEnd source(begin, again);
    try {
        const auto take = [](std::span<const ListElement> given) { return given.size(); };
        parse_json(source, "pipe", std::array{StreamedList{"plans", take}, StreamedList{"records", take}}, most_bytes);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(JsonStream, AnInputWithoutAnEndDoesNotFillTheMemory) {
    const std::string within = "pipe: over 262144 bytes without an element of 'records'";
    const std::string expected = "pipe: over 262144 bytes without an element of 'plans' or 'records'";
    EXPECT_EQ(error_of(R"({"x": ")", "aaaaaaaa"), expected);
    EXPECT_EQ(error_of(R"({"x": [1)", ", 1"), expected);
    EXPECT_EQ(error_of(R"({"records": [{"x": 1}, ")", "aaaaaaaa"), within);
    EXPECT_EQ(error_of("", " "), expected);
    EXPECT_EQ(error_of("", "["), "pipe: lists and objects in each other, over 200 deep");
    EXPECT_EQ(error_of(R"({"x":)", R"({"x":)"), "pipe: lists and objects in each other, over 200 deep");
}

TEST(JsonStream, TheBoundIsThatOfAnElementNotOfTheList) {
    std::string document = R"({"plans": [0)";
    for (std::size_t i = 0; document.size() < 4 * most_bytes; ++i) {
        document += ", " + std::to_string(i);
    }
    document += R"(], "records": [{"a": 1}]})";
    MemorySource source(document);
    std::size_t taken = 0;
    const auto take = [&](std::span<const ListElement> given) {
        taken += given.size();
        return given.size();
    };
    parse_json(source, "file", std::array{StreamedList{"records", take}, StreamedList{"plans", take}}, most_bytes);
    EXPECT_GT(taken, 4 * most_bytes / 10);
}

TEST(JsonStream, SeveralListsAreEachGivenAway) {
    const std::string text = "{\"a\": [\n{\"x\": [1]},\n{\"x\": 2}\n], \"b\": {\"a\": [3]},\n\"c\": [4, [5]], \"d\": ?}";
    for (const std::size_t step : {1U, 7U, 1000U}) {
        testing::Trickle source(text, step);
        std::string taken;
        const auto into = [&](std::string_view member) {
            return StreamedList{member, [&taken, member](std::span<const ListElement> given) {
                                    for (const ListElement& element : given) {
                                        taken += fmt::format("{}/{} in line {}: {}\n", member, element.index, element.line, element.text);
                                    }
                                    return given.size();
                                }};
        };
        std::string error;
        try {
            parse_json(source, "file", std::array{into("c"), into("a")});
        } catch (const InputError& wrong) {
            error = wrong.what();
        }
        EXPECT_EQ(taken, "a/0 in line 2: {\"x\": [1]}\na/1 in line 3: {\"x\": 2}\nc/0 in line 5: 4\nc/1 in line 5: [5]\n");
        EXPECT_EQ(error.substr(0, error.find("; last read")), whole(text).substr(0, error.find("; last read")));
    }
}

/// Lines that end as an element does, and are none.
TEST(JsonStream, ALineIsAnElementWhereItIsJson) {
    for (const std::string_view text : {
             "{\"list\": [\n{\"a\": 1},\n{\"a\": 2},\n{\"a\": 3}\n]}",
             "{\"list\": [\n{\"a\": 1},\n{\"a\": [{},\n{}]},\n{\"a\": 3},\n{\"a\": \"\\\"}\"},\n4]}",
             "{\"list\": [{\"a\": {},\n\"b\": 2}]}",
             "{\"list\": [{\"a\": [1, {},\n{}], \"b\": \"],\"}, {\"c\": {},\n\"d\": 1}], \"e\": [{},\n{}]}",
             "{\"list\": [\n{\"a\": 1}, {\"b\": 2},\n{\"c\": 3},\n\n{\"d\": 4},\n5,\n{}\n]}",
             "{\"list\": [\n{\"a\": 1},\n]}",
             "{\"list\": [\n{\"a\": [},\n{\"b\": ]},\n1]}",
             "{\"list\": [\n{\"a\": 1},\n{\"a\": x},\n{\"a\": 3}\n]}",
         }) {
        for (const std::size_t step : {1U, 5U, 1000U}) {
            const auto place = [](const std::string& error) { return error.substr(0, error.find("; last read")); };
            EXPECT_EQ(place(streamed(text, step)), place(whole(text)));
        }
    }
}

}  // namespace
}  // namespace normtune
