// Which rows a program handles, by the configuration's grid.
#pragma once

#include <algorithm>
#include <cstdint>

#include "space/common_limits.h"
#include "space/configuration.h"

namespace normtune::cpu {

struct Schedule {
    Grid grid = Grid::per_row;
    std::int64_t rows = 0;
    std::int64_t rows_per_program = 1;
    std::int64_t programs = 1;

    Schedule() = default;
    Schedule(const Configuration& c, std::int64_t row_count, int cores)
        : grid(c.grid), rows(row_count), rows_per_program(c.rows_per_program) {
        const std::int64_t groups = (rows + rows_per_program - 1) / rows_per_program;
        programs = persistent() ? std::min<std::int64_t>(groups, std::int64_t{c.programs_per_sm} * cores) : groups;
        if (grid == Grid::persistent_balanced) {
            programs = balanced_programs(groups, programs);
        }
    }

    bool persistent() const { return grid != Grid::per_row && grid != Grid::packed; }

    /// Calls visit(begin, end, next) for each run of consecutive rows of a program; `next` is the row at which this
    /// thread is likely to go on, for prefetching (it may be past the last row). `threads` take programs in turn.
    template <class Visit>
    void for_each_run(std::int64_t program, int threads, const Visit& visit) const {
        const std::int64_t groups = (rows + rows_per_program - 1) / rows_per_program;
        const auto row = [this](std::int64_t group) { return std::min(rows, group * rows_per_program); };
        switch (grid) {
            case Grid::persistent_strided:
            case Grid::persistent_balanced:
                for (std::int64_t group = program; group < groups; group += programs) {
                    visit(row(group), row(group + 1), row(group + programs));
                }
                return;
            case Grid::persistent_contiguous: {
                const std::int64_t begin = groups / programs * program + std::min(program, groups % programs);
                const std::int64_t count = groups / programs + (program < groups % programs ? 1 : 0);
                visit(row(begin), row(begin + count), row(begin + count * threads));
                return;
            }
            default:
                visit(row(program), row(program + 1), row(program + threads));
        }
    }
};

}  // namespace normtune::cpu
