#include "support/json_stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/error.h"

namespace normtune {
namespace {

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
        parse_json(source, "pipe", {"records", [](const nlohmann::json&, std::size_t) {}, most_bytes});
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(JsonStream, AnInputWithoutAnEndDoesNotFillTheMemory) {
    const std::string expected = "pipe: over 262144 bytes without an element of 'records'";
    EXPECT_EQ(error_of(R"({"x": ")", "aaaaaaaa"), expected);
    EXPECT_EQ(error_of(R"({"x": [1)", ", 1"), expected);
    EXPECT_EQ(error_of(R"({"records": [{"x": 1}, ")", "aaaaaaaa"), expected);
    EXPECT_EQ(error_of("", " "), expected);
    EXPECT_EQ(error_of("", "["), "pipe: lists and objects in each other, over 200 deep");
    EXPECT_EQ(error_of(R"({"x":)", R"({"x":)"), "pipe: lists and objects in each other, over 200 deep");
}

TEST(JsonStream, TheBoundIsThatOfAnElementNotOfTheList) {
    std::string document = R"({"records": [0)";
    for (std::size_t i = 0; document.size() < 4 * most_bytes; ++i) {
        document += ", " + std::to_string(i);
    }
    MemorySource source(document + "]}");
    std::size_t taken = 0;
    parse_json(source, "file", {"records", [&](const nlohmann::json&, std::size_t) { ++taken; }, most_bytes});
    EXPECT_GT(taken, 4 * most_bytes / 10);
}

}  // namespace
}  // namespace normtune
