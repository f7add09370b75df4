#include "space/value_help.h"

#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace normtune {
namespace {

TEST(ValueHelp, EachNamedValueHasWordsOfItsOwn) {
    for (const AxisRow& row : axis_table) {
        std::set<std::string_view> words;
        for (int value = 0; value < static_cast<int>(row.domain.names.size()); ++value) {
            const std::string_view help = value_help(row.axis, value);
            EXPECT_TRUE(help.ends_with('.')) << row.name << " " << value;
            EXPECT_NE(help, row.help) << row.name << " " << value;
            EXPECT_TRUE(words.insert(help).second) << row.name << " " << value;
        }
    }
    EXPECT_EQ(value_help(Axis::num_warps, 8), axis_row(Axis::num_warps).help);
}

/// The table in docs/spaces.md.
std::string table_of_docs() {
    std::string out = "| axis | value | |\n|---|---|---|\n";
    for (const AxisRow& row : axis_table) {
        for (int value = 0; value < static_cast<int>(row.domain.names.size()); ++value) {
            out += fmt::format("| `{}` | `{}` | {} |\n", row.name, axis_text(row.axis, value), value_help(row.axis, value));
        }
    }
    return out;
}

TEST(ValueHelp, DocsHaveTheTable) {
    std::ifstream in(NORMTUNE_SOURCE_DIR "/docs/spaces.md");
    const std::string docs{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(docs.find("\n\n" + table_of_docs() + "\n"), std::string::npos) << "docs/spaces.md should have\n\n" << table_of_docs();
}

}  // namespace
}  // namespace normtune
