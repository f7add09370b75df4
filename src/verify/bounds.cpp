#include "verify/bounds.h"

#include <algorithm>
#include <cmath>

namespace normtune {

namespace {

constexpr double u32 = 0x1p-24;

/// Half a step of the type's subnormals for each rounding on the way, generously: two steps.
double floor_of(Dtype dtype) {
    return dtype == Dtype::fp16 ? 0x1p-23 : 0x1p-126;
}

bool rounds_in_between(const Operation& operation) {
    return operation.dtype != Dtype::fp32;
}

/// Casting none: roundings of g = T(T(offset) + T(w)) that do something.
double gamma_roundings(const Operation& operation) {
    const bool sum = operation.affine && operation.offset != 0;
    const bool wide = operation.affine && operation.weight_dtype != operation.dtype;
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
    if (!rounds_in_between(operation)) {
        return {16 * u32, floor_of(operation.dtype)};
    }
    const double u = unit_roundoff(operation.dtype);
    switch (operation.casting) {
        case Casting::gemma:
            return {1.1 * u, floor_of(operation.dtype)};
        case Casting::llama:
            return {2.2 * u, floor_of(operation.dtype)};
        case Casting::none:
            break;
    }
    // T(rstd), T(x·rstd), T(n·g) and half of T(x·x)'s; g is rounded where it is a sum, and w where it is wider than T.
    return {1.1 * (3.5 + 2 * gamma_roundings(operation)) * u, 2 * floor_of(operation.dtype)};
}

double dx_noise(const RowScale& row) {
    return 32 * u32 * row.gradient + 1.1 * row.rstd_deviation * through_rstd(row);
}

Bound dx_bound(const Problem& problem, const RowScale& row) {
    const Operation& operation = problem.operation;
    const double u = unit_roundoff(operation.dtype);
    const double floor = floor_of(operation.dtype);
    if (!rounds_in_between(operation)) {
        return {operation.fused() ? 2 * u : 0, dx_noise(row) + floor};
    }
    Bound bound{operation.fused() ? 1.1 * u : 0, 1.5 * u * row.gradient + floor};
    if (operation.casting == Casting::none) {
        // T(dy·g) beside the last rounding, g's own twice for safety; in `full` also rstd's, of the squares T(x·x).
        bound.absolute += (1.1 + 2.2 * gamma_roundings(operation)) * u * (row.gradient + row.projection);
        if (operation.mode == Mode::full) {
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
    const bool stored_rounded = operation.weight_dtype != Dtype::fp32;
    const double floor = 2 * floor_of(operation.weight_dtype) + (rounds_in_between(operation) ? floor_of(operation.dtype) * rows : 0);
    double rounding = stored_rounded ? 1.5 * u_weight * largest : 0;
    if (rounds_in_between(operation) && operation.casting != Casting::gemma) {
        const bool llama = operation.casting == Casting::llama;
        const double terms = (llama ? 6 : 12) * u * std::sqrt(rows) * terms_rms;
        rounding = stored_rounded ? std::max((llama ? 2.2 : 4) * u_weight * largest, terms) : terms;
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
