#include "space/axes.h"

#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "space/backend_traits.h"
#include "space/reproducibility.h"

namespace normtune {
namespace {

std::string file_text(const std::string& path) {
    std::ifstream in(std::string(NORMTUNE_SOURCE_DIR "/") + path);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Axes, TableHasARowAnAxisInTheirOrder) {
    std::set<std::string_view> names;
    bool leading = true;
    for (int i = 0; i < axis_count; ++i) {
        const AxisRow& row = axis_table.at(static_cast<std::size_t>(i));
        EXPECT_EQ(static_cast<int>(row.axis), i);
        EXPECT_EQ(row.name, axis_names.name(row.axis));
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(axis_value(Configuration{}, row.axis), row.standard) << row.name;
        EXPECT_EQ(axis_parse(row.axis, axis_text(row.axis, row.standard)), row.standard) << row.name;
        EXPECT_TRUE(row.help.ends_with('.')) << row.name;
        EXPECT_TRUE(row.macro.empty() || row.macro.starts_with("NT_")) << row.name;
        const bool always = row.key.place == AxisKey::Place::always;
        EXPECT_TRUE(leading || !always) << row.name << " follows a further part of the key";
        leading = always;
    }
}

TEST(Axes, NamesAreThoseOfTheEnumerators) {
    EXPECT_EQ(cache_hint_names.name(CacheHint::default_), "default");
    EXPECT_EQ(cache_hint_names.name(CacheHint::streaming), "streaming");
    EXPECT_EQ(cache_hint_names.name(CacheHint::cache_global), "cache_global");
    EXPECT_EQ(offset_bits_names.name(OffsetBits::_64), "64");
    EXPECT_EQ(grid_names.name(Grid::persistent_contiguous), "persistent_contiguous");
    enum class Reordered { cache_global, default_, _32 };
    constexpr auto names = names_of_enumerators<Reordered, 3>("cache_global, default_, _32");
    EXPECT_EQ(names.name(Reordered::cache_global), "cache_global");
    EXPECT_EQ(names.name(Reordered::default_), "default");
    EXPECT_EQ(names.name(Reordered::_32), "32");
}

/// One value of an axis that is not its default.
int other_value(const AxisRow& row) {
    return row.standard == row.domain.most ? row.domain.least : row.domain.most;
}

TEST(Axes, EachPartOfAKeyIsReadAsItsAxisAlone) {
    for (const AxisRow& row : axis_table) {
        Configuration c;
        set_axis(c, row.axis, other_value(row));
        EXPECT_NE(c.key(), Configuration{}.key());
        EXPECT_EQ(Configuration::parse(c.key()), c) << c.key();
        for (int value = 0; value < static_cast<int>(row.domain.names.size()); ++value) {
            set_axis(c, row.axis, value);
            EXPECT_EQ(Configuration::parse(c.key()), c) << c.key();
        }
    }
}

TEST(Axes, InertAxesAreTheTables) {
    ASSERT_EQ(inert_axes(Backend::cuda).size(), 1U);
    EXPECT_EQ(inert_axes(Backend::cuda)[0].axis, Axis::waves_per_eu);
    ASSERT_EQ(inert_axes(Backend::hip).size(), 3U);
    EXPECT_EQ(inert_axes(Backend::hip)[0].axis, Axis::reduce_cluster);
    EXPECT_EQ(inert_axes(Backend::hip)[1].axis, Axis::cluster);
    EXPECT_EQ(inert_axes(Backend::hip)[2].axis, Axis::staging);
    EXPECT_TRUE(inert_axes(Backend::replay).empty());
    const std::vector<InertAxis> cpu = inert_axes(Backend::cpu);
    ASSERT_FALSE(cpu.empty());
    EXPECT_EQ(cpu[0].axis, Axis::rows_binding);
    EXPECT_EQ(cpu[0].reason, "rows per program are bound at run time: CPU kernels are compiled ahead of time");
}

/// A row of the table in docs/spaces.md.
std::string line_of_docs(const AxisRow& row) {
    std::string values = row.domain.wanted();
    if (!row.domain.names.empty()) {
        values = fmt::format("`{}`", fmt::join(row.domain.names, "`, `"));
    }
    const AxisRow* part = &row;
    while (part->key.place == AxisKey::Place::joined) {
        --part;
    }
    std::string key = part->key.prefix.empty() ? "the value" : fmt::format("`{}`", key_form(*part));
    if (!row.key.short_name.empty()) {
        key += fmt::format(" (`{}` for `{}`)", row.key.short_name, axis_text(row.axis, row.key.short_value));
    }
    std::string without;
    for (const InertOn& on : row.inert_on) {
        if (!on.reason.empty()) {
            without += fmt::format("{}{}", without.empty() ? " " : ", ", backend_names.name(on.backend));
        }
    }
    return fmt::format("| `{}` | {} | `{}` | {} |{} | {} | {} |\n", row.name, values, axis_text(row.axis, row.standard), key, without,
                       bits_help(row), row.help);
}

TEST(Axes, DocsHaveTheTable) {
    std::string table = "| axis | values | default | in a key | means nothing on | bits | |\n|---|---|---|---|---|---|---|\n";
    for (const AxisRow& row : axis_table) {
        table += line_of_docs(row);
    }
    EXPECT_NE(file_text("docs/spaces.md").find("\n\n" + table + "\n"), std::string::npos) << "docs/spaces.md should have\n\n" << table;
}

}  // namespace
}  // namespace normtune
