#include "report/json_document.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

using nlohmann::json;

TEST(JsonDocument, IsTheSameWrittenInPieces) {
    const json runs = {{{"a", 1}, {"z", json::array({"x", json::object({{"list", 7}})})}}, {{"a", "[]"}, {"z", json::array()}}};
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        const json members = {{"b", "\n  \"inner\": []"}, {"inner", json::array()}, {"o", {{"inner", json::array()}}}};
        json outer = json::array();
        for (std::size_t i = 0; i < length; ++i) {
            json one = members;
            one["inner"] = length == 1 ? json::array() : runs;
            outer.push_back(one);
        }
        std::string text;
        TextSink out([&](std::string_view piece) { text += piece; });
        const WriteElement device = [&](std::size_t, std::string_view margin) {
            write_json_with(
                out, members, "inner", length == 1 ? 0 : runs.size(),
                [&](std::size_t i, std::string_view deeper) { write_json(out, runs[i], deeper); }, margin);
        };
        write_json_document(out, 3, {{"outer", json::array()}, {"zero", 0}}, "outer", length, device);
        out.flush();
        EXPECT_EQ(text, json_document(3, {{"outer", outer}, {"zero", 0}}));
    }
}

}  // namespace
}  // namespace normtune
