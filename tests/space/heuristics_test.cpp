#include "space/heuristics.h"

#include <map>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace normtune {
namespace {

bool obeys(std::string_view name, const Configuration& configuration, const Problem& problem, const DeviceInfo& device) {
    for (const Heuristic& heuristic : heuristics()) {
        if (heuristic.name == name) {
            return heuristic.chooses(configuration, problem, device);
        }
    }
    ADD_FAILURE() << "no heuristic " << name;
    return false;
}

Problem problem_of(std::int64_t rows, std::int64_t cols, Mode mode = Mode::forward) {
    Problem problem;
    problem.shape = {rows, cols, cols};
    problem.operation.mode = mode;
    return problem;
}

// Golden values of TransformerEngine #615 on a device of 304 and one of 132 compute units.
TEST(TeRowsPerProgram, ShortRowsArePackedAsLongAsTheTargetHolds) {
    EXPECT_EQ(te_rows_per_program(32768, 128, 304, false), 8);
    EXPECT_EQ(te_programs(32768, 128, 304, false), 4096);
    EXPECT_EQ(te_rows_per_program(32768, 128, 304, true), 4);
    EXPECT_EQ(te_programs(32768, 128, 304, true), 4864);
    EXPECT_EQ(te_rows_per_program(32768, 128, 132, false), 16);
    EXPECT_EQ(te_programs(32768, 128, 132, false), 2048);
    EXPECT_EQ(te_rows_per_program(32768, 128, 132, true), 4);
    EXPECT_EQ(te_programs(32768, 128, 132, true), 2112);
}

TEST(TeRowsPerProgram, WideRowsAreNotPackedAndTheirGridIsPersistent) {
    for (const bool backward : {false, true}) {
        EXPECT_EQ(te_rows_per_program(8192, 4096, 304, backward), 1);
        EXPECT_EQ(te_programs(8192, 4096, 304, backward), 304);
    }
    EXPECT_EQ(te_programs(8192, 2048, 304, false), 8192);  // a flat grid up to 2048 columns
    EXPECT_EQ(te_programs(8192, 4096, 304, false, 20), 284);
    EXPECT_EQ(te_programs(100, 4096, 304, true), 100);
}

TEST(TeRowsPerProgram, CapsFollowTheRowsLength) {
    constexpr std::int64_t plenty = 1 << 22;
    EXPECT_EQ(te_rows_per_program(plenty, 128, 1, false), 16);
    EXPECT_EQ(te_rows_per_program(plenty, 129, 1, false), 4);
    EXPECT_EQ(te_rows_per_program(plenty, 257, 1, false), 2);
    EXPECT_EQ(te_rows_per_program(plenty, 513, 1, false), 1);
    EXPECT_EQ(te_rows_per_program(plenty, 128, 1, true), 4);
    EXPECT_EQ(te_rows_per_program(plenty, 512, 1, true), 2);
    EXPECT_EQ(te_rows_per_program(plenty, 513, 1, true), 1);
}

TEST(TeRowsPerProgram, BelowTheTargetItPacksByDivisibilityAlone) {
    EXPECT_EQ(te_rows_per_program(8, 128, 304, false), 4);
    EXPECT_EQ(te_rows_per_program(6, 128, 304, false), 2);
    EXPECT_EQ(te_rows_per_program(7, 128, 304, false), 1);
    EXPECT_EQ(te_rows_per_program(6, 512, 304, true), 2);
    EXPECT_EQ(te_rows_per_program(1, 128, 304, true), 1);
    EXPECT_EQ(te_rows_per_program(64, 409, 132, false), 2);
    EXPECT_EQ(te_rows_per_program(173, 409, 132, false), 1);
}

TEST(Offsets, SixtyFourBitsFromTwoToTheThirtyFirst) {
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    EXPECT_FALSE(needs_64_bit_offsets(8192, 4096, 4096));
    EXPECT_TRUE(needs_64_bit_offsets(limit / 4096, 4096, 4096));
    EXPECT_TRUE(needs_64_bit_offsets(limit / 4096 - 1, 4096, 4096));  // stride·M + N is 2^31 exactly
    EXPECT_FALSE(needs_64_bit_offsets(limit / 4096 - 2, 4096, 4096));
    EXPECT_TRUE(needs_64_bit_offsets(1000000, 512, 4096));  // the stride counts, not the columns
    EXPECT_FALSE(needs_64_bit_offsets(500000, 512, 4096 - 1));
    EXPECT_TRUE(needs_64_bit_offsets(limit * 1024, limit, limit * 1024));  // no overflow on the way
    EXPECT_FALSE(needs_64_bit_offsets(limit / 2 - 1, 1, 1));
    EXPECT_TRUE(needs_64_bit_offsets(limit / 2, 1, 1));  // rows ahead of the last one are counted, too
}

TEST(Liger, SettingsGrowWithThePowerOfTwoAboveTheRow) {
    const std::map<std::int64_t, std::pair<std::int64_t, int>> golden{{1, {1, 4}},        {1000, {1024, 4}},    {1024, {1024, 4}},
                                                                      {1025, {2048, 8}},  {4096, {4096, 8}},    {5120, {8192, 16}},
                                                                      {8192, {8192, 16}}, {16385, {32768, 32}}, {65536, {65536, 32}}};
    for (const auto& [cols, expected] : golden) {
        EXPECT_EQ(liger_settings(cols).block_size, expected.first) << cols;
        EXPECT_EQ(liger_settings(cols).num_warps, expected.second) << cols;
    }
}

TEST(Liger, AscendTileHoldsTwoThousandElements) {
    EXPECT_EQ(liger_ascend_block_m(512), 4);
    EXPECT_EQ(liger_ascend_block_m(1024), 2);
    EXPECT_EQ(liger_ascend_block_m(2048), 1);
    EXPECT_EQ(liger_ascend_block_m(600), 2);   // its block is 1024
    EXPECT_EQ(liger_ascend_block_m(4096), 1);  // tiled
}

TEST(Quack, ThreadsPerRowTables) {
    const std::map<std::int64_t, std::pair<int, int>> golden{{64, {8, 8}},        {65, {16, 16}},     {128, {16, 16}},   {256, {32, 32}},
                                                             {512, {32, 64}},     {513, {32, 128}},   {3072, {32, 128}}, {3073, {64, 128}},
                                                             {4096, {64, 128}},   {4097, {64, 256}},  {6144, {64, 256}}, {6145, {128, 256}},
                                                             {16384, {128, 256}}, {16385, {256, 256}}};
    for (const auto& [cols, expected] : golden) {
        EXPECT_EQ(quack_threads_per_row(cols, false), expected.first) << cols;
        EXPECT_EQ(quack_threads_per_row(cols, true), expected.second) << cols;
    }
}

TEST(Heuristics, EachFixesItsOwnAxesAndLeavesTheOthersFree) {
    DeviceInfo gpu;
    gpu.warp_size = 64;
    gpu.compute_units = 304;
    const Problem q_norm = problem_of(32768, 128);
    Configuration c;
    c.rows_per_program = 8;
    EXPECT_TRUE(obeys("te_rows_per_program", c, q_norm, gpu));
    EXPECT_FALSE(obeys("te_rows_per_program", c, problem_of(32768, 128, Mode::backward), gpu));
    c.rows_per_program = 4;
    EXPECT_TRUE(obeys("te_rows_per_program", c, problem_of(32768, 128, Mode::full), gpu));
    c.rows_per_program = 16;
    EXPECT_TRUE(obeys("liger_ascend", c, q_norm, gpu));
    c.threads_per_row = 16;
    EXPECT_TRUE(obeys("quack_threads_per_row", c, q_norm, gpu));
    c.threads_per_row = 32;
    EXPECT_FALSE(obeys("quack_threads_per_row", c, q_norm, gpu));
}

TEST(Heuristics, LigerTakesOneRowWithAllThreadsInOneRead) {
    DeviceInfo gpu;
    gpu.warp_size = 32;
    const Problem hidden = problem_of(8192, 4096);
    Configuration liger;
    liger.num_warps = 8;
    liger.threads_per_row = 256;
    EXPECT_TRUE(obeys("liger_calculate_settings", liger, hidden, gpu));
    Configuration other = liger;
    other.block_size = 4096;
    EXPECT_TRUE(obeys("liger_calculate_settings", other, hidden, gpu));
    other.block_size = 2048;
    EXPECT_FALSE(obeys("liger_calculate_settings", other, hidden, gpu));
    other = liger;
    other.rows_per_program = 2;
    EXPECT_FALSE(obeys("liger_calculate_settings", other, hidden, gpu));
    other = liger;
    other.threads_per_row = 128;
    EXPECT_FALSE(obeys("liger_calculate_settings", other, hidden, gpu));
    other = liger;
    other.num_warps = 4;
    other.threads_per_row = 128;
    EXPECT_FALSE(obeys("liger_calculate_settings", other, hidden, gpu));
}

}  // namespace
}  // namespace normtune
