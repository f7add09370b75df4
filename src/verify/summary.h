// What the comparison of one output with its oracle comes to, wherever it ran.
#pragma once

#include <cstdint>

#include "problem/problem.h"

namespace normtune {

/// Places count values: row · cols + column.
struct OutputSummary {
    TensorRole role = TensorRole::y;  // what it holds: in place, dx
    std::int64_t unwritten = 0;       // values that still are the poison
    std::int64_t not_finite = 0;      // NaN and infinity, poison included
    std::int64_t first = -1;          // place of the first such; -1: none
    std::int64_t beyond = 0;          // values beyond their bound
    // Where it is furthest beyond its bound, or nearest to it.
    std::int64_t place = 0;
    double over = 0;  // the least error before the last rounding that gives what was found, over its bound
    double got = 0;
    double expected = 0;
    double allowed = 0;

    void add(const OutputSummary& other);
};

}  // namespace normtune
