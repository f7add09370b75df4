// What verification found: plain data, part of a record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace normtune {

/// One output tensor against its oracle, or an input against what it was.
struct TensorCheck {
    TensorRole role = TensorRole::y;
    std::string oracle;           // "rounded": with the contract's rounding points; older files have "exact", too
    double worst_over_bound = 0;  // above 1: incorrect; infinity: NaN, inf, never written, an input that was overwritten
    double worst_error = 0;       // of what is stored, in unit roundoffs of the value expected
    std::int64_t worst_row = 0;
    std::int64_t worst_col = 0;
    std::int64_t unwritten = 0;  // elements that still hold the poison, and gaps of a stride that were written
    friend bool operator==(const TensorCheck&, const TensorCheck&) = default;
};

struct ShapeCheck {
    Shape shape;
    std::int64_t rows_checked = 0;  // older files: fewer than shape.rows where the oracle was run on a sample of the rows
    std::vector<TensorCheck> tensors;
    friend bool operator==(const ShapeCheck&, const ShapeCheck&) = default;
};

struct Verification {
    bool passed = false;
    std::string reason;      // the first failure: tensor, shape, place, values, bound; empty where passed
    std::uint64_t seed = 0;  // repeats the inputs
    std::vector<ShapeCheck> shapes;
    friend bool operator==(const Verification&, const Verification&) = default;
};

}  // namespace normtune
