#include "devices/cpu/schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace normtune::cpu {
namespace {

constexpr Grid grids[] = {Grid::per_row, Grid::packed, Grid::persistent_strided, Grid::persistent_contiguous, Grid::persistent_balanced};

TEST(Schedule, EveryRowBelongsToOneProgram) {
    for (const Grid grid : grids) {
        for (const std::int64_t rows : {1, 2, 7, 64, 101}) {
            for (const int rows_per_program : {1, 4, 16}) {
                for (const int programs_per_sm : {1, 3}) {
                    Configuration c;
                    c.grid = grid;
                    c.rows_per_program = grid == Grid::per_row ? 1 : rows_per_program;
                    c.programs_per_sm = programs_per_sm;
                    const Schedule schedule(c, rows, 3);
                    std::vector<int> taken(static_cast<std::size_t>(rows), 0);
                    for (std::int64_t program = 0; program < schedule.programs; ++program) {
                        schedule.for_each_run(program, 3, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                            for (std::int64_t row = begin; row < end; ++row) {
                                ++taken.at(static_cast<std::size_t>(row));
                            }
                        });
                    }
                    EXPECT_EQ(taken, std::vector<int>(static_cast<std::size_t>(rows), 1));
                }
            }
        }
    }
}

TEST(Schedule, PersistentGridsHaveProgramsByTheCore) {
    Configuration c;
    c.rows_per_program = 4;
    c.programs_per_sm = 2;
    c.grid = Grid::persistent_strided;
    EXPECT_EQ(Schedule(c, 1000, 3).programs, 6);
    EXPECT_EQ(Schedule(c, 9, 3).programs, 3);  // three groups of rows
    c.grid = Grid::packed;
    EXPECT_EQ(Schedule(c, 1000, 3).programs, 250);
    c.grid = Grid::persistent_balanced;
    EXPECT_EQ(Schedule(c, 1000, 3).programs, 6);  // 250 groups: 42 each at the most
    EXPECT_EQ(Schedule(c, 32, 3).programs, 4);    // 8 groups: 2 each, which 4 take
}

TEST(Schedule, ContiguousSharesAreEvenToAGroupOfRows) {
    Configuration c;
    c.rows_per_program = 4;
    c.grid = Grid::persistent_contiguous;
    const Schedule schedule(c, 1001, 3);
    for (std::int64_t program = 0; program < 3; ++program) {
        schedule.for_each_run(program, 3, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            EXPECT_NEAR(static_cast<double>(end - begin), 1001.0 / 3, 2 * 4.0);
        });
    }
}

}  // namespace
}  // namespace normtune::cpu
