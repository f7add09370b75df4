#include "report/sections.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/error.h"

namespace normtune {
namespace {

std::vector<Section> two_tables() {
    Section first{"First", Table("name|>us"), "A note.\n"};
    first.table.add({"b", "2"});
    first.table.add({"a", "10"});
    first.table.add({"c", "7"});
    Section second{"", Table("model"), ""};
    second.table.add({"x|y"});
    return {first, {"Nothing", Table(), "None.\n"}, second};
}

TEST(Sections, AreTextMarkdownCsvAndJson) {
    EXPECT_EQ(sections_text(two_tables(), ReportFormat::table, {}),
              "First\nname  us\nb      2\na     10\nc      7\nA note.\n\nNothing\nNone.\n\nmodel\nx|y\n");
    EXPECT_EQ(sections_text(two_tables(), ReportFormat::csv, {}), "name,us\r\nb,2\r\na,10\r\nc,7\r\n\r\nmodel\r\nx|y\r\n");
    const std::string markdown = sections_text(two_tables(), ReportFormat::markdown, {});
    EXPECT_NE(markdown.find("### First\n\n| name | us |\n|---|--:|\n"), std::string::npos) << markdown;
    const nlohmann::json parsed = nlohmann::json::parse(sections_text(two_tables(), ReportFormat::json, {}));
    EXPECT_EQ(parsed.at("tables").at(0).at("columns"), (nlohmann::json{"name", "us"}));
    EXPECT_EQ(parsed.at("tables").at(0).at("rows").at(1), (nlohmann::json{"a", "10"}));
    EXPECT_EQ(parsed.at("tables").at(1).at("note"), "None.\n");
}

TEST(Sections, AreArrangedWhereATableHasTheColumn) {
    std::vector<Section> sections = two_tables();
    arrange(sections, {"us", std::nullopt, 2});
    EXPECT_EQ(sections[0].table.csv(), "name,us\r\na,10\r\nc,7\r\n");
    EXPECT_EQ(sections[0].note, "… and 1 more.\nA note.\n");
    EXPECT_EQ(sections[2].note, "");
    arrange(sections, {"us", false, 0});
    EXPECT_EQ(sections[0].table.csv(), "name,us\r\nc,7\r\na,10\r\n");
    try {
        arrange(sections, {"ms", std::nullopt, 0});
        FAIL() << "there is no such column";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "--sort: no table has a column 'ms'; there are: name, us, model");
    }
}

TEST(Sections, AColumnIsLookedForBeforeThereAreTables) {
    const std::vector<std::string> headings = headings_of({"name|>us", "name|model"});
    EXPECT_EQ(headings, (std::vector<std::string>{"name", "us", "model"}));
    EXPECT_NO_THROW(require_column("model", headings));
    EXPECT_THROW(require_column("models", headings), InputError);
}

}  // namespace
}  // namespace normtune
