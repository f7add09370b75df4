// Few rows of factor values in which every pair of values that is allowed at all appears together.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

namespace normtune::covering {

/// A value's index for each factor.
using Row = std::vector<int>;

struct Pair {
    std::size_t first_factor = 0;
    int first_value = 0;
    std::size_t second_factor = 0;  // > first_factor
    int second_value = 0;
    friend auto operator<=>(const Pair&, const Pair&) = default;
};

struct Array {
    std::vector<Row> rows;
    std::vector<Pair> uncovered;  // no allowed row was found that has the pair
};

/// `values`: of each factor; `starts`: allowed rows, from which others are found by changes; `cost`: of two rows that
/// cover as much, the cheaper is taken. The same arguments give the same rows on every platform.
Array cover_pairs(const std::vector<int>& values, const std::vector<Row>& starts, const std::function<bool(const Row&)>& allowed,
                  const std::function<double(const Row&)>& cost);

/// Pairs that are in no row.
std::vector<Pair> missing_pairs(const std::vector<int>& values, const std::vector<Row>& rows);

}  // namespace normtune::covering
