#include "verify/bounds.h"

#include <cmath>

namespace normtune {

Bounds bounds_of(const Problem& problem, const RoundingContract& contract) {
    constexpr double u32 = 0x1p-24;
    const Operation& operation = problem.operation;
    const auto n = static_cast<double>(problem.shape.cols);
    const auto m = static_cast<double>(problem.shape.rows);
    Bounds bounds;
    bounds.rstd = (6 + 0.75 * std::sqrt(n) + 0.008 * n) * u32;
    bounds.y = (contract.forward.normal ? 1.1 : 4) * u32;
    bounds.gradient = 4 * u32;
    bounds.projection = 6 * u32;
    bounds.incoming = 2 * u32;
    bounds.row_sum = (8 + 1.5 * std::sqrt(n) + 0.016 * n) * u32;
    bounds.row_terms = (12 * std::sqrt(n) + 2.5 * n) * u32;
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
