#include "verify/bounds.h"

#include <algorithm>
#include <cmath>

namespace normtune {

namespace {

constexpr double u32 = 0x1p-24;

constexpr SumBound in_fp32(SumBound of) {
    return {of.once * u32, of.root * u32, of.each * u32};
}

constexpr SumBound of_rstd = in_fp32({6, 0.75, 0.008});

}  // namespace

double SumBound::of(std::int64_t terms) const {
    const auto n = static_cast<double>(terms);
    return once + root * std::sqrt(n) + each * n;
}

std::int64_t telling_values(std::int64_t cols) {
    // each·n + root·√n = 1/(4N) − once, for √n
    const double rest = std::max(0.0, 0.25 / static_cast<double>(cols) - of_rstd.once);
    const double root = (std::sqrt(of_rstd.root * of_rstd.root + 4 * of_rstd.each * rest) - of_rstd.root) / (2 * of_rstd.each);
    return std::clamp(static_cast<std::int64_t>(root * root), std::min<std::int64_t>(64, cols), cols);
}

Bounds bounds_of(const Problem& problem, const RoundingContract& contract) {
    const Operation& operation = problem.operation;
    const auto m = static_cast<double>(problem.shape.rows);
    Bounds bounds;
    bounds.rstd = of_rstd;
    bounds.y = (contract.forward.normal ? 1.1 : 4) * u32;
    bounds.gradient = 4 * u32;
    bounds.projection = 6 * u32;
    bounds.incoming = 2 * u32;
    bounds.row_sum = in_fp32({8, 1.5, 0.016});
    bounds.row_terms = in_fp32({0, 12, 2.5});
    bounds.column_terms = (16 * std::sqrt(m) + 4 * m) * u32;
    bounds.column_walk = 4 * std::sqrt(m);
    bounds.column_sum = 2 * std::sqrt(m) * u32;
    if (operation.has_forward()) {
        bounds.column_rstd = 6 * std::sqrt(m);
        const double step = 2 * unit_roundoff(operation.dtype);
        bounds.column_tips = contract.backward.normal ? 6 * std::sqrt(step * m) : 0;
        bounds.column_tip = contract.backward.normal ? 3 * step : 0;
    }
    bounds.tiny = 0x1p-126 * (1 + m);
    return bounds;
}

}  // namespace normtune
