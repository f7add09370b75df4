#include "space/configuration.h"

#include <random>

#include <gtest/gtest.h>

#include "space/axes.h"
#include "support/error.h"

namespace normtune {
namespace {

TEST(Configuration, KeyOfTheDefaultNamesOnlyTheSevenLeadingAxes) {
    EXPECT_EQ(Configuration{}.key(), "w4.t128.r1.row.registers.masked.per_row");
}

TEST(Configuration, KeyNamesEveryAxisThatDiffersInAxisOrder) {
    Configuration c;
    c.num_warps = 8;
    c.threads_per_row = 32;
    c.rows_per_program = 16;
    c.block_size = 2048;
    c.residency = Residency::reload;
    c.reduction = Reduction::where;
    c.grid = Grid::persistent_strided;
    c.rows_binding = RowsBinding::runtime;
    c.programs_per_sm = 2;
    c.gamma = GammaPlacement::hoisted;
    c.vector_bytes = 8;
    c.load_hint = CacheHint::cache_global;
    c.store_hint = CacheHint::streaming;
    c.stages = 2;
    c.offset_bits = OffsetBits::_64;
    c.dgamma = DgammaMethod::split;
    c.reduce_rows = 128;
    c.reduce_warps = 8;
    c.reduce_parts = 16;
    c.reduce_cluster = 8;
    c.waves_per_eu = 2;
    c.tile_rows = 4;
    c.unit_margin = 8;
    c.deferred_steps = 2;
    c.cluster = 4;
    c.dependent_launch = DependentLaunch::on;
    EXPECT_EQ(c.key(),
              "w8.t32.r16.b2048.reload.where.persistent_strided.runtime.p2.gamma_hoisted.v8.ld_cg.st_streaming.s2.o64."
              "split.tile128x64x8.parts16.pc8.wpe2.h4.um8.d2.c4.pdl_on");
    EXPECT_EQ(Configuration::parse(c.key()), c);
}

TEST(Configuration, EveryRandomConfigurationComesBackFromItsKey) {
    std::mt19937 random(7);
    for (int i = 0; i < 5000; ++i) {
        Configuration c;
        for (const AxisRow& row : axis_table) {
            const Axis axis = row.axis;
            const AxisDomain& d = row.domain;
            int value = std::uniform_int_distribution<int>(d.least, d.most)(random);
            if (d.power_of_two) {
                value = 1 << std::uniform_int_distribution<int>(0, 20)(random);
                while (value > d.most) {
                    value >>= 1;
                }
                value = std::max(value, d.least);
            }
            set_axis(c, axis, value);
            EXPECT_EQ(axis_value(c, axis), value);
            EXPECT_EQ(axis_parse(axis, axis_text(axis, value)), value) << axis_names.name(axis);
        }
        EXPECT_EQ(Configuration::parse(c.key()), c) << c.key();
    }
}

TEST(Configuration, PartsAtTheirDefaultAreAcceptedAndLeftOut) {
    EXPECT_EQ(Configuration::parse("w4.t128.r1.row.registers.masked.per_row.constexpr.p1.v16.ld_default.s1.oauto.partials").key(),
              "w4.t128.r1.row.registers.masked.per_row");
}

struct BadKey {
    const char* key;
    const char* says;
};

class BadConfigurationKey : public ::testing::TestWithParam<BadKey> {};

TEST_P(BadConfigurationKey, SaysWhatIsWrongAndWhatWouldBeRight) {
    try {
        Configuration::parse(GetParam().key);
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(Keys, BadConfigurationKey,
                         ::testing::Values(BadKey{"", "w<num_warps>"}, BadKey{"w4", "has 1 of the 7 parts that every key has"},
                                           BadKey{"w4.t\n128.r1.row.registers.masked.per_row", "is not"},
                                           BadKey{"w3.t128.r1.row.registers.masked.per_row", "a power of two from 1 to 32"},
                                           BadKey{"w-4.t128.r1.row.registers.masked.per_row", "'w-4' is not"},
                                           BadKey{"w99999999999.t128.r1.row.registers.masked.per_row", "from 1 to 32"},
                                           BadKey{"w4.t128.r0.row.registers.masked.per_row", "r<rows_per_program>, a whole number from 1"},
                                           BadKey{"w4.t128.r1.brow.registers.masked.per_row", "'brow' is not b<block_size>"},
                                           BadKey{"w4.t128.r1.64.registers.masked.per_row", "'64' is not b<block_size>"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.ld_cache_global",
                                                  "one of default, streaming, cg"},
                                           BadKey{"w4.t128.r1.b0.registers.masked.per_row", "b<block_size>, a power of two from 1"},
                                           BadKey{"w4.t128.r1.row.registers.mask.per_row", "a reduction: where, masked, guard, even"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.tile64x64", "tile<R>x<C>x<W>"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.ld_", "one of default, streaming, cg"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.zebra", "a known part"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.ld_cg.ld_streaming",
                                                  "names load_hint twice: 'ld_cg' and 'ld_streaming'"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.partials.atomic", "names dgamma twice"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.publish", "'publish' is not a known part"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.deferred", "'deferred' is not a known part"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.d9", "a whole number from 0 to 8"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.spilt", "'spilt' is not a known part"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.p0", "a whole number from 1 to 64"},
                                           BadKey{"w4.t128.r1.row.registers.masked.per_row.", "a known part"}));

}  // namespace
}  // namespace normtune
