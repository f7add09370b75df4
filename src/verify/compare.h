// A tensor's bytes against numbers: where it is worst, how much of it differs, and whether it was written at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "problem/problem.h"
#include "verify/bounds.h"

namespace normtune {

struct Scan {
    std::int64_t unwritten = 0;   // elements that hold the poison
    std::int64_t not_finite = 0;  // NaN and infinity, poison included
    std::int64_t first = -1;      // place in the span of the first such; -1: none
};

/// Looks at every element of a contiguous tensor.
Scan scan_codes(Dtype dtype, std::span<const std::byte> bytes);

/// Rows of a tensor, and what they should hold: `slots` rows of `cols` expected values.
template <typename Expected>
struct Comparison {
    Dtype dtype;
    std::span<const std::byte> bytes;
    std::int64_t row_stride;
    std::int64_t cols;
    std::span<const std::int64_t> rows;  // the tensor's row of each slot; empty: slot i is row i
    std::span<const Expected> expected;

    std::size_t slots() const { return expected.size() / static_cast<std::size_t>(cols); }
    std::int64_t row(std::size_t slot) const { return rows.empty() ? static_cast<std::int64_t>(slot) : rows[slot]; }
};

/// Where a comparison is furthest beyond its bound, or nearest to it.
struct Worst {
    double over = 0;  // error / bound
    double error = 0;
    double got = 0;
    double expected = 0;
    double allowed = 0;  // the bound at that place
    std::size_t slot = 0;
    std::int64_t col = 0;
};

/// One bound a slot; `scale` (one a slot, or empty) multiplies the expected values.
Worst worst_of(const Comparison<double>& comparison, std::span<const Bound> bounds, std::span<const double> scale = {});

struct Differing {
    std::int64_t count = 0;
    std::int64_t compared = 0;
    std::size_t slot = 0;  // of the first that differs
    std::int64_t col = 0;
    double got = 0;
    double expected = 0;
};

/// Elements that differ from the expected value by more than the slot's tolerance; infinity leaves a slot out.
Differing differing_of(const Comparison<float>& comparison, std::span<const double> tolerance);

}  // namespace normtune
