#include "verify/bounds.h"

#include <algorithm>
#include <cmath>

namespace normtune {

namespace {

constexpr double u32 = 0x1p-24;

double floor_of(Dtype dtype) {
    return row_of(dtype).rounding_floor;
}

/// Roundings of g = T(T(offset) + T(w)) that do something.
double gamma_roundings(const Operation& operation) {
    const bool rounded = operation.affine && operation.roundings().gain;
    const bool sum = rounded && operation.offset != 0;
    const bool wide = rounded && operation.weight_dtype != operation.dtype;
    return (sum ? 1 : 0) + (wide ? 1 : 0);
}

/// |∂dx/∂rstd|·rstd at most.
double through_rstd(const RowScale& row) {
    return row.gradient + 3 * row.projection;
}

}  // namespace

double rstd_error(std::int64_t cols) {
    const auto n = static_cast<double>(cols);
    return std::max(5e-6, (4 + 0.75 * std::sqrt(n) + 0.008 * n) * u32);
}

Bound y_bound(const Problem& problem) {
    const Operation& operation = problem.operation;
    const RoundingPoints points = operation.roundings();
    const Dtype stored = tensor_of(problem, TensorRole::y).dtype;
    const double u = unit_roundoff(stored);
    // T(rstd), n = T(x·rstd) and half of T(x·x)'s; g is rounded where it is a sum, and gamma where it is wider than T.
    const double roundings = (points.scale ? 1 : 0) + (points.normal ? 1 : 0) + (points.squares ? 0.5 : 0) + 2 * gamma_roundings(operation);
    const double before = roundings * (unit_roundoff(operation.dtype) / u);
    const double floor = std::max(floor_of(stored), roundings > 0 ? floor_of(operation.dtype) : 0);
    return {(is_narrow(stored) ? 1.1 * (1 + before) : 16 + 1.1 * before) * u, (points.scale ? 2 : 1) * floor};
}

double dx_noise(const RowScale& row) {
    return 32 * u32 * row.gradient + 1.1 * row.rstd_deviation * through_rstd(row);
}

Bound dx_bound(const Problem& problem, const RowScale& row) {
    const Operation& operation = problem.operation;
    const double u = unit_roundoff(operation.dtype);
    const double floor = floor_of(operation.dtype);
    const bool adds = operation.has(TensorRole::ds);
    if (!is_narrow(operation.dtype)) {
        return {adds ? 2 * u : 0, dx_noise(row) + floor};
    }
    Bound bound{adds ? 1.1 * u : 0, 1.5 * u * row.gradient + floor};
    const RoundingPoints points = operation.roundings();
    if (points.gradient) {
        // T(dy·g) beside the last rounding, g's own twice for safety; in `full` also rstd's, of the squares T(x·x).
        bound.absolute += (1.1 + 2.2 * gamma_roundings(operation)) * u * (row.gradient + row.projection);
        if (points.squares && operation.has_forward()) {
            bound.absolute += 0.5 * u * through_rstd(row);
        }
    }
    return bound;
}

Bound dgamma_bound(const Problem& problem, double largest, double terms_rms, double rstd_deviation) {
    const Operation& operation = problem.operation;
    const auto rows = static_cast<double>(problem.shape.rows);
    // fp32 accumulation of M terms in any order, and the kernel's own rstd in each of them.
    double accumulation = std::max(5e-6 * std::sqrt(rows), 3 * u32 * rows) * terms_rms;
    accumulation += 6 * rstd_deviation * std::sqrt(rows) * terms_rms;
    const double u = unit_roundoff(operation.dtype);
    const double u_weight = unit_roundoff(operation.weight_dtype);
    const bool stored_rounded = is_narrow(operation.weight_dtype);
    const double floor = 2 * floor_of(operation.weight_dtype) + (is_narrow(operation.dtype) ? floor_of(operation.dtype) * rows : 0);
    double rounding = stored_rounded ? 1.5 * u_weight * largest : 0;
    if (const RoundingPoints points = operation.roundings(); points.normal) {
        const double terms = (points.terms ? 12 : 6) * u * std::sqrt(rows) * terms_rms;
        rounding = stored_rounded ? std::max((points.terms ? 4 : 2.2) * u_weight * largest, terms) : terms;
    }
    return {0, rounding + accumulation + floor};
}

double differing_share(const Problem& problem) {
    return std::min(0.12, 0.01 + 2 * rstd_error(problem.shape.cols) / unit_roundoff(problem.operation.dtype));
}

std::int64_t most_differing(double share, std::int64_t count) {
    const double expected = share * static_cast<double>(count);
    return static_cast<std::int64_t>(expected + 6 * std::sqrt(expected)) + 3;
}

}  // namespace normtune
